// Bytes in the editor: at the ends of lines, in a hover, after edits of the file, and away again.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { linesOf } from '../sentences.mjs';
import { sentencesOf } from './hostSentences';
import { FIRST, freshPage, inThemes, PAGE, picture, reached, rowAt, trace, writeScript } from './pageActions';
import { behind, click, clickAt, focused, hover, keys, press, styles, texts, until } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const JOB = `allocate(ctypes.byref(address), ctypes.c_size_t(${20 * MB}))
allocate(ctypes.byref(address), ctypes.c_size_t(${3 * MB}))
time.sleep(60)
`;
const gone = (selector: string): Promise<boolean> =>
  texts(selector, 200).then(
    found => found.join('') === '',
    () => true,
  );

/** `#59a4f9` of `rgb(89, 164, 249)`, or of `color(srgb 0.35 0.64 0.98)`. */
function hexOf(colour: string): string {
  const scale = colour.startsWith('color') ? 255 : 1;
  const parts = colour.match(/[\d.]+/g)?.map(part => Math.round(Number(part) * scale)) ?? [];
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`;
}

describe('Bytes in the editor', () => {
  let file = '';
  let editor: vscode.TextEditor;
  const settings = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration('gpuMemoryTrace');
  before(async () => {
    await freshPage();
    file = writeScript('in_editor.py', JOB);
    await trace(file);
    await reached('running');
    await rowAt(file, FIRST);
    editor = await vscode.window.showTextDocument(vscode.Uri.file(file));
  });
  after(async () => {
    await settings().update('editor.lineBytes', undefined, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    await reached('ended');
  });

  const hoverAt = async (line: number): Promise<string> => {
    const at = new vscode.Position(line - 1, 2);
    const found = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      editor.document.uri,
      at,
    );
    return found
      .flatMap(hover => hover.contents)
      .map(content => (content as vscode.MarkdownString).value)
      .join('\n');
  };

  it('tells in a hover what a line holds', async () => {
    const text = await until('the hover', async () => (await hoverAt(FIRST)) || null);
    assert.match(text, /20 MiB .* 20 MiB/);
    assertSentence(linesOf(text, /20 MiB/).replace(/!\[.*?\]\(.*?\)/g, ''));
    assert.match(text, /data:image\/svg\+xml/);
    assert.equal(await hoverAt(FIRST - 1), '');
    const texts = await until('text at line ends', async () => {
      const found = await behind('.monaco-editor .view-line span');
      return found.length === 2 ? found : null;
    });
    assert.deepEqual(texts, ['20 MiB', '3 MiB']);
    await picture('editor-lines');
  });

  it('marks the lines that allocate in the gutter, in their colours of the timeline', async () => {
    const colours = await until('two groups of the timeline', async () => {
      const found = await styles('.legend-item i[data-group]:not([data-group=rest])', 'border-top-color');
      return found.length === 2 ? found.map(hexOf) : null;
    });
    await until('two marks in these colours', async () => {
      const marks = await styles('.monaco-editor .glyph-margin-widgets .cgmr', 'background-image');
      const fills = marks.map(mark => /fill="(#\w{6})ff"/.exec(atob(/base64,([^"]*)/.exec(mark)?.[1] ?? ''))?.[1]);
      assert.deepEqual(fills, colours);
      return true;
    });
  });

  it('shows the hover in the window, by mouse and by keyboard', async () => {
    const bubble = '.monaco-hover:not(.hidden) .hover-contents';
    // What changes in the editor meanwhile takes a hover away.
    const hoverAfter = (show: () => Promise<void>): Promise<true> =>
      until('the hover', async () => {
        await show();
        return /20 MiB .* 1 block/.test((await texts(bubble, 2000)).join('')) as true;
      });
    await hoverAfter(() => hover('.monaco-editor .view-line:has-text("allocate(ctypes.byref(address)") span span'));
    await inThemes('editor-hover');
    await vscode.window.showTextDocument(editor.document);
    await keys('Escape');
    await until('no hover', () => gone(bubble));
    const at = new vscode.Position(FIRST - 1, 2);
    editor.selection = new vscode.Selection(at, at);
    await hoverAfter(() => keys('Control+k', 'Control+i'));
    await keys('Escape');
  });

  it('follows edits of the file', async () => {
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), '# a note\n# another\n'));
    assert.match(await hoverAt(FIRST + 2), /20 MiB alive/);
    assert.match(await hoverAt(FIRST + 3), /3 MiB alive/);
    assert.equal(await hoverAt(FIRST), '');
    await picture('editor-edited');
  });

  it('a row of the table opens the line where it stands now', async () => {
    await vscode.window.showTextDocument(vscode.Uri.file(writeScript('other.py', '')));
    const row = `[data-row][data-line="${FIRST}"]`;
    await click(row);
    await until('the line', () => {
      const shown = vscode.window.activeTextEditor;
      return shown?.document.uri.fsPath === file && shown.selection.active.line === FIRST + 1;
    });
    assert.match((await focused(PAGE))?.name ?? '', /grid/, 'one click leaves the keyboard in the table');
    await clickAt(row, 60, 8, true);
    await until('the keyboard in the editor', async () => (await focused(PAGE)) === null);
    await press('.list .grid', 'Home');
    assert.match((await focused(PAGE))?.name ?? '', /grid/);
    await keys('Enter');
    await until('the keyboard in the editor again', async () => (await focused(PAGE)) === null);
  });

  it('goes away by the command, and comes back', async () => {
    await vscode.commands.executeCommand('gpuMemoryTrace.toggleLineBytes');
    assert.equal(settings().get('editor.lineBytes'), false);
    assert.equal(await hoverAt(FIRST + 2), '');
    await vscode.commands.executeCommand('gpuMemoryTrace.toggleLineBytes');
    await until('the bytes again', async () => /20 MiB alive/.test(await hoverAt(FIRST + 2)));
  });
});
