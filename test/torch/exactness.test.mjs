// What a trace says of a program, event by event, against what the program says of itself.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { assertTensorLayer } from '../gpu/layer.mjs';
import { liveByAddress } from '../gpu/traced.mjs';
import { inRoot } from '../project/root.mjs';
import { runJob } from '../workloads/tracedJob.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';
import { buildBackwardThread, torchOf } from './standIn.mjs';

const MOST_FRAMES = 128;
const python = process.env.GMT_TORCH_PYTHON;
const ofGpu = name => onCpu(inRoot('test/gpu/jobs', `${name}.py`));

before(() => {
  for (const helper of ['transformer', 'truth']) ofGpu(helper);
});

/** The job's report, its trace and what it wrote of itself. */
async function traced(t, file, variables = {}, options = []) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-exact-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [truth, trace] = ['truth.json', 'job.gputrace'].map(name => join(folder, name));
  const own = { GMT_TRUTH: truth, GMT_WORKLOADS: inRoot('test/workloads'), ...variables };
  const { report } = await runJob(file, {
    python,
    env: { ...cpuVariables(), ...own },
    options: ['--simulate-gpu', '-o', trace, ...options],
  });
  assert.equal(report.exitCode, 0);
  assert.equal(report.lost.events, 0);
  return { report, trace, truth: JSON.parse(readFileSync(truth, 'utf8')) };
}

test('every event that the allocator counted', async t => {
  const { report, truth } = await traced(t, ofGpu('accounting'));
  assertTensorLayer(report, truth.stats);
});

test('every stack of random calls', async t => {
  const { report, truth } = await traced(t, onCpu(inRoot('test/torch/random_stacks.py')));
  const live = liveByAddress(report, 'tensor');
  const wrong = truth.blocks.filter(([address, frames]) => {
    const found = live.get(address)?.site?.frames.map(({ file, line }) => [file, line]);
    return JSON.stringify(found) !== JSON.stringify(frames.slice(0, MOST_FRAMES));
  });
  assert.ok(truth.blocks.length >= 3000);
  assert.equal(wrong.length, 0, JSON.stringify(wrong[0]));
});

test('bytes by module path, as forward hooks tell them', async t => {
  if (/^1\.1[0-2]\./.test(torchOf(python).version)) return t.skip('the program that tells them needs PyTorch 1.13');
  const { trace, truth } = await traced(t, ofGpu('modules'), { GMT_MODEL: 'checkpointed' });
  const words = [inRoot('dist/cli.js'), 'report', trace, '--format', 'json', '--group-by', 'module-path'];
  const { groups } = JSON.parse(spawnSync(process.execPath, words, { maxBuffer: 1 << 30 }).stdout);
  const found = Object.fromEntries(groups.map(({ label, liveBytes }) => [label, liveBytes]));
  const all = [...new Set([...Object.keys(found), ...Object.keys(truth.paths)])];
  const off = all.map(path => [path, (found[path] ?? 0) - (truth.paths[path] ?? 0)]).filter(([, bytes]) => bytes !== 0);
  assert.ok(Object.keys(truth.paths).length > 5);
  // On the CPU a checkpoint's state of the random numbers lies among the tensors, and no dispatch mode sees it made.
  const sum = Object.values(truth.paths).reduce((one, other) => one + other, 0);
  const wrong = off.reduce((bytes, [, one]) => bytes + Math.abs(one), 0) / 2;
  assert.ok(wrong <= 0.001 * sum, JSON.stringify(off));
});

test('every gradient at its forward line, from a thread without Python code', async t => {
  const torch = torchOf(python);
  const { report, truth } = await traced(t, ofGpu('backward_lines'), {
    GMT_BACKWARD_THREAD: await buildBackwardThread(torch),
  });
  const live = liveByAddress(report, 'tensor');
  const file = ofGpu('backward_lines');
  const found = truth.expected.map(([address, line, what]) => {
    const site = live.get(address)?.site;
    return [what, line, site?.lineSource, site?.userFrame?.file === file && site.userFrame.line];
  });
  assert.deepEqual(
    found.filter(([, line, source, own]) => source !== 'forward' || own !== line),
    [],
  );
});

test('names and categories of parameters, gradients and states', async t => {
  const { report } = await traced(t, onCpu(inRoot('test/torch/named_tensors.py')));
  const found = report.allocations.map(({ category, name }) => `${category} ${name}`).sort();
  const of = (category, state = '') =>
    ['0', '2'].flatMap(layer => ['bias', 'weight'].map(kind => `${category} ${layer}.${kind}${state}`));
  for (const wanted of [
    ...of('parameter'),
    ...of('gradient'),
    ...of('optimizer', '.exp_avg'),
    ...of('optimizer', '.exp_avg_sq'),
  ])
    assert.ok(found.includes(wanted), `${wanted}: ${found.join(', ')}`);
  assert.equal(report.steps.count, 20);
});

/** Words of the note of what a release does not show, and the first release that shows it. */
const NOT_SHOWN = [
  [/graph holds/, 210],
  [/optimizer steps/, 200],
  [/forward lines/, 200],
  [/ran out/, 113],
];

test('what this PyTorch does not show has a note, and nothing else has', async t => {
  const [major, minor] = torchOf(python).version.split('.').map(Number);
  const { report } = await traced(t, onCpu(inRoot('test/torch/named_tensors.py')), {}, ['--holders', 'atSteps']);
  const notes = report.processes[0].notes;
  assert.deepEqual(
    NOT_SHOWN.map(([words]) => notes.some(note => words.test(note))),
    NOT_SHOWN.map(([, first]) => major * 100 + minor < first),
    notes.join('\n'),
  );
});
