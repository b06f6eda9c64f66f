// What agents get in VS Code: the tool that shows what they point to.
import * as assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { gunzipSync } from 'node:zlib';
import { sentencesOf } from './hostSentences';
import { freshPage, workspace } from './pageActions';
import { shows, until } from './window';

const { it, assertSentence, assertRejects } = sentencesOf(__filename);

const root = vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace')?.extensionPath ?? '';
const show = async (input: object): Promise<string> => {
  const result = await vscode.lm.invokeTool('show_gpu_memory_in_editor', { input, toolInvocationToken: undefined });
  return result.content.map(part => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join();
};

describe('Agents', () => {
  const trace = join(workspace, 'l05_exception.gputrace');
  before(async () => {
    await freshPage();
    writeFileSync(trace, gunzipSync(readFileSync(join(root, 'test/golden/leaks/l05_exception.gputrace.gz'))));
  });
  after(async () => {
    rmSync(trace, { force: true });
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await freshPage();
  });

  it('a trace is shown at a moment, with the card of a finding and a line', async () => {
    const source = join(workspace, 'l05_exception.py');
    writeFileSync(source, '#\n'.repeat(30));
    const finding = 'leak 0 tensor /srv/train/test/workloads/leaks/l05_exception.py:11';
    const text = await show({ trace, at: 'step:40', finding, line: `${source}:20` });
    const [title, moment = '', card, line] = text.split('\n');
    assert.deepEqual([title, line], ['l05_exception.gputrace', 'l05_exception.py:20']);
    assert.match(card ?? '', /^l05_exception\.py:20 /);
    assertSentence(text);
    const shown = await shows('[data-value=moment]', / 40/);
    assert.ok(moment.startsWith(shown.split(' 40')[0] ?? '?'), `${moment}: ${shown}`);
    await until('the line', () => Promise.resolve(vscode.window.activeTextEditor?.selection.active.line === 19));
    rmSync(source);
  });

  it('what is not there is one sentence', async () => {
    await assertRejects(show({ at: 'noon' }));
    await assertRejects(show({ trace: '2147483' }));
    assertSentence(await show({ finding: 'leak 0 tensor /srv/train/test/workloads/leaks/l05_exception.py:11' }));
  });
});
