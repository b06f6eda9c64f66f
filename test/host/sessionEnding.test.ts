// Programs that freed everything when they ended, in Leak Explorer: one that is traced, and a trace that is opened.
import * as assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { sentencesOf } from './hostSentences';
import { FIRST, freshPage, INPUT, inThemes, reached, rowAt, trace, workspace, writeScript } from './pageActions';
import { problems } from './shownLeak';
import { attribute, behind, click, fill, press, rows, shows, texts, until } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const root = vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace')?.extensionPath ?? '';
const BACK = '[data-action=moment-now]';
const MB = 1 << 20;
const JOB = `def main():
    blocks = []
    for number in range(8):
        allocate(ctypes.byref(address), ctypes.c_size_t(${MB}))
        blocks.append(address.value)
    for block in blocks:
        cuda.cuMemFree_v2(ctypes.c_uint64(block))
main()
`;

describe('A program that freed everything', () => {
  before(freshPage);
  after(freshPage);

  it('is shown at its peak when it has ended, and at its end where that is wanted: by mouse', async () => {
    const file = writeScript('freed.py', JOB);
    await trace(file);
    await reached('ended');
    assertSentence(await shows('[data-value=moment]', /peak/));
    assertSentence(await shows('[data-value=reason]', /ended/));
    assert.equal((await rowAt(file, FIRST + 3)).cells.live, '8 MiB');
    await shows('[data-value=live]', /^8 MiB$/);
    await until('its bytes at the line’s end', async () =>
      (await behind('.monaco-editor .view-line span')).find(text => text === '8 MiB'),
    );
    await click(BACK);
    assertSentence(await shows('.list .none', /live/));
    await shows('[data-value=live]', /^0 B$/);
  });

  it('left a page of what to try, where memory ran out', async () => {
    const run =
      `allocate(ctypes.byref(address), ctypes.c_size_t(${MB}))\n` +
      `sys.exit(allocate(ctypes.byref(address), ctypes.c_size_t(1 << int(sys.argv[1]))) != 0)\n`;
    const file = writeScript('ran_out.py', run);
    await trace(file, '45');
    await reached('ended');
    await shows('[data-finding^=oom]', /ran_out\.py/);
    assert.equal(await attribute('.words', 'hidden'), '', 'its card is the only message');
    const { Error: error } = vscode.DiagnosticSeverity;
    await until('an error at the line', () => problems(file)[0]?.severity === error);
    const severe = () => attribute('[data-finding^=oom]', 'data-severe');
    await until('a card in red', async () => (await severe()) === 'true');
    await until('the report', () => click('[data-action=open-report]').then(() => true));
    const tabs = () => vscode.window.tabGroups.all.flatMap(group => group.tabs);
    await until('the page', () => tabs().some(({ label }) => /oom-\d+\.md/.test(label)));
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    assert.equal(await attribute('.offers [data-action]', 'data-action'), 'trace-again', 'first, as after every run');
    await click('.offers [data-action]:nth-child(2)[data-action=change-arguments]');
    await until('the arguments of before', () => fill(INPUT, '20').then(() => true));
    await press(INPUT, 'Enter');
    assertSentence(await shows('[data-value=run-before]', /memory/));
  });

  inLong(it)('was asked by itself who holds what leaks, without a page that is seen', async () => {
    const agent = join(root, 'test/native/agent/programs');
    const file = join(workspace, 'asked.py');
    const emptied = join(workspace, 'emptied.py');
    const paths = JSON.stringify([join(agent, 'standin'), agent]);
    const lines = [
      'import os, sys',
      `sys.path[:0] = ${paths}`,
      'os.environ["GPU_MEMTRACE_AGENT_DEVICES"] = "all"',
      'sys.argv[1:] = ["slow"]',
      `exec(compile(open(${JSON.stringify(emptied)}).read(), ${JSON.stringify(emptied)}, "exec"))`,
      'open(__file__ + ".done", "w").close()',
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    await trace(file, '');
    await vscode.commands.executeCommand('workbench.view.explorer');
    await until('its end', () => existsSync(`${file}.done`));
    await vscode.commands.executeCommand('gpuMemoryTrace.explorer.focus');
    await reached('ended');
    await shows('[data-part=holder]', /main\(\)\.kept\[\.\.\.\]/);
    await shows('[data-value=moment]', / step \d+$/);
  });

  inLong(it)('is shown at the end of its last step where a saved trace of it is opened: by keyboard', async () => {
    const file = join(workspace, 'emptied.gputrace');
    const agent = join(root, 'test/native/agent/programs');
    const words = ['run', '--simulate-gpu', '--format', 'none', '-o', file];
    execFileSync('node', [join(root, 'dist/cli.js'), ...words, '--', 'python3', join(workspace, 'emptied.py')], {
      env: { ...process.env, PYTHONPATH: `${join(agent, 'standin')}:${agent}`, GPU_MEMTRACE_AGENT_DEVICES: 'all' },
    });
    await vscode.commands.executeCommand('gpuMemoryTrace.openTrace', vscode.Uri.file(file));
    await shows('[data-value=title]', /^emptied\.gputrace$/);
    await shows('[data-value=moment]', / step 60$/);
    await until('its rows', async () => (await rows()).some(({ cells }) => cells.live === '30 KiB'));
    await until('its areas', async () => /tracing\.py/.test((await texts('.legend-groups')).join()));
    await shows('[data-value=standing]', /^1 leak$/);
    assert.match((await attribute('.standing .codicon', 'class')) ?? '', /codicon-bug/);
    await inThemes('emptied');
    await press(BACK, 'Enter');
    await shows('.list .none', /live/);
  });
});
