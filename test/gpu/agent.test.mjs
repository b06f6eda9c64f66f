// The agent on a real GPU: results, steps, names, holders, the device's own account.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { jobFile, python } from './traced.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const library = join(here, '../../dist/native/libgpumemtrace.so');
const helpers = join(here, '../native/agent/programs');

/** The job's own answer, and with `traced` what its log holds. */
function runAgent(mode, { traced = true, settings = null, env = {} } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-agent-'));
  try {
    if (settings) writeFileSync(join(folder, 'at-exit.json'), JSON.stringify(settings));
    const tracer = { LD_PRELOAD: library, CUDA_INJECTION64_PATH: library, GPU_MEMTRACE_DIR: folder };
    const common = { PYTHONPATH: helpers, CUBLAS_WORKSPACE_CONFIG: ':4096:8', PYTHONDONTWRITEBYTECODE: '1' };
    const run = spawnSync(python, [jobFile('agent/agent'), mode], {
      env: { ...process.env, ...common, ...(traced ? tracer : {}), ...env },
      encoding: 'utf8',
    });
    assert.equal(run.status, 0, run.stderr);
    const told = JSON.parse(run.stdout.trim().split('\n').at(-1));
    if (!traced) return { told };
    const read = spawnSync(python, [jobFile('agent/agent_answers'), folder], { encoding: 'utf8', maxBuffer: 1 << 30 });
    assert.equal(read.status, 0, read.stderr);
    const log = JSON.parse(read.stdout);
    if (env.GPU_MEMTRACE_AGENT !== '0') assert.deepEqual(log.notes, []);
    return { told, log };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const lineOf = mark =>
  readFileSync(jobFile('agent/agent'), 'utf8')
    .split('\n')
    .findIndex(line => line.endsWith(`# HOLD ${mark}`)) + 1;

test('the same losses bit for bit, with names and surveys', () => {
  const plain = runAgent('train', { traced: false });
  const alone = runAgent('train', { env: { GPU_MEMTRACE_AGENT: '0' } });
  const { told, log } = runAgent('train', { settings: { budgetMs: 500, steps: true } });
  assert.deepEqual(told.losses, plain.told.losses);
  assert.deepEqual(
    log.steps,
    Array.from({ length: 200 }, (_, place) => place + 1),
  );
  const texts = new Set(Object.values(log.names).map(([category, text]) => `${category} ${text}`));
  for (const wanted of ['1 0.weight', '1 2.bias', '2 0.weight', '3 0.weight.exp_avg', '6 cuBLAS workspace'])
    assert.ok(texts.has(wanted), wanted);
  const surveys = log.answers.filter(answer => answer.request === 0);
  console.log(
    `seconds: ${plain.told.seconds} untraced, ${alone.told.seconds} without the agent, ${told.seconds} with it; ` +
      `surveys at ${surveys.map(each => `${each.when} ${each.step} (${each.tookMs} ms)`).join(', ')}`,
  );
  assert.deepEqual(
    surveys.map(each => each.when),
    ['exit'],
    'nothing grows, so only the end is surveyed',
  );
});

test('holders with their lines', () => {
  const { told, log } = runAgent('holders');
  const answer = log.answers.find(each => each.request === 1);
  console.log(`${answer.objects} objects in ${answer.tookMs} ms, cut: ${answer.cut}`);
  const expected = {
    graph: ['autograd', 'holders().epoch_loss (its graph)', lineOf('graph')],
    'module list': ['container', 'holders().model.debug_outputs[...]', lineOf('module list')],
    cache: ['container', '__main__.cache[...]', lineOf('cache')],
    cycle: ['cycle', 'cycle of Loop: .block', lineOf('cycle')],
    gradient: ['module-attribute', 'holders().model.proj.weight.grad', undefined],
    parameter: ['module-attribute', 'holders().model.proj.weight', lineOf('parameter')],
    none: ['none', 'no Python owner', undefined],
  };
  for (const [name, wanted] of Object.entries(expected)) {
    const at = `0x${told.addresses[name].toString(16)}`;
    const found = answer.holders.find(each => each.addresses.includes(at));
    assert.deepEqual([found?.kind, found?.path, found?.line], wanted, name);
  }
});

test('what was asked for a block, its stream and its pool', () => {
  const { told, log } = runAgent('blocks');
  const of = name => log.blocks[`0x${told.addresses[name].toString(16)}`];
  assert.deepEqual(of('plain'), [1000, 0, 0, 0, 0]);
  assert.deepEqual(of('beside'), [3000, told.stream, 0, 0, 0]);
  const [asked, , ...pool] = of('captured');
  assert.deepEqual([asked, pool], [1000, [...told.pool, 0]]);
});

test('the device tells what the process holds', () => {
  const { log } = runAgent('train');
  console.log(`NVML: ${JSON.stringify(log.memory.slice(0, 3))}`);
  assert.ok(log.memory.length > 0, 'no GMT_MEMORY record: is libnvidia-ml.so.1 there?');
  for (const [, ofProcess, used, total, device] of log.memory) {
    assert.equal(device, 0);
    assert.ok(used > 0 && used <= total);
    assert.ok(ofProcess === 2 ** 64 || ofProcess <= used);
  }
});
