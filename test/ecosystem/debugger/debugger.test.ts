// A real debugpy in VS Code: a configuration with "gpuMemoryTrace": true is traced; Leak Explorer says that the program stands still, and
// variables lead to their memory. `extension` beside this stands for the extension Python Debugger.
import * as assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { freshPage, reached, rowAt, workspace } from '../../host/pageActions';
import { shows, texts, until } from '../../host/window';

const root = join(__dirname, '../../../..');
const file = join(workspace, 'debugged.py');
const DETAIL = '[data-value=detail]';
const STANDS = /^The debugger holds the program: this is what is alive now\.$/m;
const MB = 1 << 20;
const run = (command: string, ...given: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`gpuMemoryTrace.${command}`, ...given);
const lineOf = (text: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .findIndex(line => line.includes(text)) + 1;

/** Where the program stands, once it does. */
const stop = (): Promise<vscode.DebugStackFrame> =>
  until('a stop', () => {
    const item = vscode.debug.activeStackItem;
    return item instanceof vscode.DebugStackFrame ? item : null;
  });

/** What a hover says of the text in a line. */
async function hovered(line: number, text: string): Promise<string> {
  const document = await vscode.workspace.openTextDocument(file);
  const at = new vscode.Position(line - 1, document.lineAt(line - 1).text.indexOf(text) + text.length - 1);
  const all = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', document.uri, at);
  const told = all.flatMap(({ contents }) => contents.map(one => (typeof one === 'string' ? one : one.value)));
  return told.filter(one => one.includes('GPU memory')).join();
}

describe('A program in the debugger', function () {
  this.timeout(120_000);
  before(async () => {
    copyFileSync(join(root, 'test/ecosystem/debugger/debugged.py'), file);
    await freshPage();
    const place = new vscode.Location(vscode.Uri.file(file), new vscode.Position(lineOf('print("round"') - 1, 0));
    vscode.debug.addBreakpoints([new vscode.SourceBreakpoint(place)]);
  });
  after(async () => {
    vscode.debug.removeBreakpoints(vscode.debug.breakpoints);
    await freshPage();
  });

  const start = (): Thenable<boolean> =>
    vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], {
      type: 'debugpy',
      request: 'launch',
      name: 'debugged',
      program: file,
      console: 'internalConsole',
      env: vscode.workspace.getConfiguration('terminal.integrated.env').get('linux'), // no terminal gives it those
      gpuMemoryTrace: true,
    });

  it('says at a breakpoint that it stands still, and what is alive', async () => {
    assert.equal(await start(), true);
    const frame = await stop();
    await run('explorer.focus'); // VS Code shows its own view
    await reached('running');
    await shows(DETAIL, STANDS);
    const born = lineOf('kept.append');
    assert.match((await rowAt(file, born)).cells.live ?? '', /^4 MiB/);
    const asked = { expression: '__import__("as_gpu").allocated_bytes()', frameId: frame.frameId, context: 'watch' };
    const { result } = (await frame.session.customRequest('evaluate', asked)) as { result: string };
    assert.equal(Number(result), 5 * MB);
  });

  it('tells a tensor’s bytes, line and holder to the pointer, and nothing of what is no tensor', async () => {
    const born = lineOf('kept.append');
    const stands = lineOf('part = keep()');
    assert.match(await hovered(stands, 'part'), new RegExp(`^4 MiB .* debugged\\.py:${born} .* __main__\\.part`));
    const line = lineOf('print("kept"');
    assert.equal(await hovered(line, 'kept'), '');
    assert.match(await hovered(lineOf('model.weight'), 'model.weight'), /^1 MiB .* __main__\.model\.weight/);
  });

  it('shows the block of a variable in its details', async () => {
    await run('showTensor', { variable: { name: 'part', evaluateName: 'part' } });
    await shows('.details-head', /debugged\.py:/);
    await until('its address', async () => (await texts('.details')).join('\n').includes('4 MiB'));
  });

  it('no longer says so when it goes on, and ends with the program', async () => {
    vscode.debug.removeBreakpoints(vscode.debug.breakpoints);
    await until('the debugger to be done', async () => {
      const item = vscode.debug.activeStackItem;
      if (item instanceof vscode.DebugStackFrame)
        await item.session.customRequest('continue', { threadId: item.threadId });
      return vscode.debug.activeDebugSession === undefined;
    });
    await reached('ended');
    await shows(DETAIL, /ended with status 3/);
    assert.doesNotMatch((await texts(DETAIL)).join(), STANDS);
  });
});
