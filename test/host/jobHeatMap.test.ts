// The folder of a job: what differs between ranks, the map by keyboard and mouse, a rank in the views of one trace.
import * as assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { withoutNumbers } from '../masked.mjs';
import { sentencesOf } from './hostSentences';
import { inThemes, reached, workspace } from './pageActions';
import { click, press, shows, texts, until, violations, words } from './window';

const HEAT = '[data-part=heat]';
const SCRIPT = `import os
import time
import gpu

RANK = int(os.environ["RANK"])
kept = []
for step in range(40):
    batch = [gpu.empty(4 * gpu.MIB) for _ in range(20 if RANK == 2 else 6)]
    if RANK == 1:
        kept.append(gpu.empty(gpu.MIB))
    time.sleep(0.005)
`;

const { it, assertSentence } = sentencesOf(__filename);

describe('A job of many ranks in VS Code', () => {
  const folder = join(workspace, 'job-of-ranks');
  const script = join(workspace, 'rank_job.py');

  before(() => {
    writeFileSync(script, SCRIPT);
    const cli = join(
      vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace')?.extensionPath ?? '',
      'dist/cli.js',
    );
    const all = [...Array(6).keys()].map(rank => [41, rank, 6] as const);
    for (const [job, rank, world] of [[40, 0, 1] as const, ...all]) {
      const env = {
        ...{ ...process.env, ELECTRON_RUN_AS_NODE: '1', SLURM_JOB_ID: String(job) },
        ...{ RANK: String(rank), WORLD_SIZE: String(world) },
      };
      const how = ['run', '--simulate-gpu', '--format', 'none', '-o', `${folder}/`, '--', 'python3', script];
      const { status, stderr } = spawnSync(process.execPath, [cli, ...how], { env, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    }
  });
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('says which ranks differ, and why', async () => {
    await vscode.commands.executeCommand('gpuMemoryTrace.openTrace', vscode.Uri.file(folder));
    await shows('[data-value=job]', /Job job-41/);
    assertSentence(await shows('[data-value=facts]', /6 \w+ 6 .*simulated/));
    const found = await texts('.differences li');
    assert.equal(found.length, 2, found.join('\n'));
    assert.match(found[0] ?? '', /^\W*Rank 1 .* 1(\.0\d)? MiB .* rank_job\.py:10; /);
    assert.match(found[1] ?? '', /^\W*Rank 2 .* \d[\d.]* MiB .* rank_job\.py:8/);
    assertSentence(withoutNumbers(found.join('\n')));
    assert.deepEqual(await violations('.job'), []);
    await inThemes('job');
  });

  inLong(it)('tells a cell by keyboard, in another order too', async () => {
    await press(HEAT, 'Home');
    await shows('[data-value=cell]', /rank 0 on .* step \d+: \d/);
    await press(HEAT, 'ArrowDown');
    await shows('[data-value=cell]', /rank 1 .* it leaks/);
    await click('[data-control=order]');
    await click('[data-control=order] vscode-option[value=peak]');
    await press(HEAT, 'Home');
    await shows('[data-value=cell]', /rank 2 on/);
    await press('[data-control=layer]', 'ArrowDown');
    await until('the legend', async () => /strongest color/.test(await words('[data-value=scale]')));
  });

  it('tells how runs changed, and shows one of before', async () => {
    assert.equal((await texts('.runs tbody tr')).length, 4);
    assert.match(await words('.runs'), /job-40.*job-41/s);
    assert.match(await words('.runs'), /rank_job\.py:8.*48 MiB.*160 MiB/s);
    await click('.runs [data-action=show-run]');
    await shows('[data-value=job]', /Job job-40/);
    assertSentence((await shows('.differences li:not([data-kind])', /\S/)).trim());
    await click('.runs tbody tr:nth-child(2) [data-action=show-run]');
    await shows('[data-value=job]', /Job job-41/);
    await press('[data-control=order]', 'Home');
  });

  it('opens a line and a rank', async () => {
    await click('.differences li:first-child [data-action=open-line]');
    await until('the line', () => vscode.window.activeTextEditor?.document.uri.fsPath === script);
    await vscode.commands.executeCommand('workbench.action.previousEditor');
    await press(HEAT, 'End');
    await press(HEAT, 'Enter');
    await reached('ended');
    assert.match(await words('[data-phase]'), /rank_job|vm-|traces/);
  });
});
