// Two holders of the same memory: both are named, whichever way is asked, and the leak is gone when both are changed and not before.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { leaksOf, runJob } from '../workloads/tracedJob.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const python = process.env.GMT_TORCH_PYTHON;
const file = onCpu(inRoot('test/workloads/holders/two_holders.py'));
const text = readFileSync(file, 'utf8');
const how = holders => ({ python, env: cpuVariables(), options: ['--simulate-gpu', '--holders', holders] });
const lineOf = statement => text.slice(0, text.indexOf(statement)).split('\n').length;
const named = ({ path, line, also = [] }) => [[path, line], ...also.map(other => [other.path, other.line])];

const OUTPUTS = [
  ["__main__.history['outputs'][...]", lineOf('history["outputs"].append')],
  ['__main__.meter.values[...]', lineOf('self.values.append')],
];
const LOSSES = [
  ['__main__.curve[...]', lineOf('curve.append')],
  ['__main__.losses[...]', lineOf('losses.append')],
];
const byPath = holders => holders.map(named).toSorted((one, other) => one[0][0].localeCompare(other[0][0]));

for (const mode of ['onFirstLeak', 'atSteps'])
  test(`two holders, by a look ${mode}`, async () => {
    const { report } = await runJob(file, how(mode));
    assert.deepEqual(byPath(leaksOf(report).map(({ holder }) => holder)), [LOSSES, OUTPUTS]);
    for (const { holder } of leaksOf(report)) assert.equal(holder.fix, undefined, 'no change of one line ends it');
  });

test('two holders, asked by the command while the program runs', { timeout: 600_000 }, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-two-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const env = { ...process.env, ...cpuVariables(), XDG_RUNTIME_DIR: folder };
  const cli = inRoot('dist/cli.js');
  const words = ['run', '--simulate-gpu', '--holders', 'never', '-o', join(folder, 'a.gputrace'), python, file, 'wait'];
  const job = spawn(process.execPath, [cli, ...words], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise(done => job.on('close', done));
  t.after(() => job.stdin.end());
  let said = '';
  const pid = await new Promise(done =>
    job.stdout.on('data', data => {
      const match = /trained (\d+)\n/.exec((said += data));
      if (match !== null) done(match[1]);
    }),
  );
  const ask = (...more) => execFileSync(process.execPath, [cli, 'holders', pid, ...more], { env, encoding: 'utf8' });
  const asked = JSON.parse(ask('--format', 'json'));
  assert.deepEqual(byPath(asked.questions.flatMap(({ holders }) => holders)), [LOSSES, OUTPUTS]);
  const line = LOSSES[1][1];
  assert.match(ask(), new RegExp(`^    __main__\\.losses\\[\\.\\.\\.\\] \\(two_holders\\.py:${line}\\) .*\\.$`, 'm'));
  job.stdin.end();
  await ended;
});

test('a list and the graph of what lies in another one: both are named, and nothing of one line is offered', async () => {
  const job = onCpu(inRoot('test/workloads/holders/held_by_graph.py'));
  const source = readFileSync(job, 'utf8').split('\n');
  const at = statement => source.findIndex(line => line.includes(statement)) + 1;
  const list = ['__main__.outputs[...]', at('outputs.append')];
  const [graph, other] = ['outputs', 'losses'].map(name => [`__main__.${name}[...] (its graph)`, at(`${name}.append`)]);
  for (const mode of ['onFirstLeak', 'atSteps']) {
    const { report } = await runJob(job, how(mode));
    assert.deepEqual(byPath(leaksOf(report).map(({ holder }) => holder)), [
      [other, graph],
      [list, other],
    ]);
    for (const { holder } of leaksOf(report)) assert.equal(holder.fix, undefined, mode);
  }
});

test('one change of two leaves the leak, both end it', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-two-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const copy = join(folder, 'two_holders.py');
  const one = text
    .replace('history["outputs"].append(out.detach())', 'history["outputs"].append(out.detach().cpu())')
    .replace('curve.append(value)', 'curve.append(value.item())');
  writeFileSync(copy, one);
  const after = await runJob(copy, how('atSteps'));
  assert.deepEqual(byPath(leaksOf(after.report).map(({ holder }) => holder)), [[LOSSES[1]], [OUTPUTS[1]]]);
  writeFileSync(
    copy,
    one
      .replace('append(value)\n\n\nmeter', 'append(value.cpu())\n\n\nmeter')
      .replace('losses.append(value)', 'losses.append(value.item())'),
  );
  const both = await runJob(copy, how('atSteps'));
  assert.deepEqual(
    leaksOf(both.report).map(({ title }) => title),
    [],
  );
});
