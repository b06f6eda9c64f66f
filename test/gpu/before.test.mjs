// What was there before the tracer came, on a real driver and PyTorch: PyTorch's own figures are the truth. It needs the rights of
// uprobe.test.mjs.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { jobFile, liveByAddress, python, total } from './traced.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const program = join(root, 'dist/native/gpu-memtrace-uprobe');
const able = existsSync(program) && spawnSync(program, ['self-test']).status === 0;
const skip = able ? false : 'no rights to attach, or no tracer built';

/** Until the tracer has written what was there before. */
async function attached(traces, tracer) {
  const begun = () => readdirSync(traces, { recursive: true }).some(name => name.endsWith('.gmtlog'));
  while (!begun() && tracer.exitCode === null) await setTimeout(50);
  await setTimeout(1500);
}

/** The job, attached to when it is under way and to its end. */
async function attachMidWay(words, env) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-before-'));
  const [truth, report, trace] = ['truth.json', 'report.json', 'job.gputrace'].map(file => join(folder, file));
  const job = spawn(python, [jobFile('before'), ...words], {
    env: { ...process.env, ...env, GMT_TRUTH: truth },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: job.stdout })[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'under way');
  const options = ['--format', 'json', '--report', report, '-o', trace];
  const traces = join(folder, 'run');
  mkdirSync(traces, { mode: 0o700 });
  const tracer = spawn(process.execPath, [join(root, 'dist/cli.js'), 'attach', String(job.pid), ...options], {
    env: { ...process.env, XDG_RUNTIME_DIR: traces },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  tracer.stderr.on('data', data => (said += data));
  const ended = once(tracer, 'exit');
  await attached(traces, tracer);
  job.stdin.write('go on\n');
  assert.equal((await lines.next()).value, 'done');
  await setTimeout(500);
  tracer.kill('SIGINT');
  const [status] = await ended;
  assert.equal(status, 0, said);
  job.stdin.end();
  assert.equal((await once(job, 'exit'))[0], 0);
  const read = file => JSON.parse(readFileSync(file, 'utf8'));
  return { truth: read(truth), report: read(report) };
}

const SETTINGS = {
  'as PyTorch does by default': [[], {}],
  'while it trains': [['busy'], {}],
  'with expandable segments': [[], { PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:True' }],
};

for (const [name, [words, env]] of Object.entries(SETTINGS)) {
  test(
    `memory from before the attach, ${name}: live bytes are PyTorch's own, the rest is one sum`,
    { skip },
    async () => {
      const { truth, report } = await attachMidWay(words, env);
      const notes = report.processes.flatMap(process => process.notes);
      console.log(`PyTorch ${truth.torch}, Python ${truth.python}\n${notes.join('\n')}`);
      assert.deepEqual(report.lost.byCause, {});
      assert.equal(total(report, 'tensor').liveBytes, truth.stats['allocated_bytes.all'].current, 'live bytes');
      const live = [...liveByAddress(report, 'tensor')];
      const ofBefore = ([, { site }]) => site.lineSource === 'before-attach';
      const blocks = new Map(truth.blocks.map(([address, bytes]) => [address, bytes]));
      for (const [address, { bytes }] of live.filter(one => !ofBefore(one))) assert.equal(blocks.get(address), bytes);
      const before = live.filter(ofBefore);
      assert.equal(before.length, 1);
      assert.ok(before[0][1].bytes > 0 && before[0][1].bytes < truth.before.reduce((sum, [, bytes]) => sum + bytes, 0));
      for (const { lineSource, verdict } of report.sites)
        if (lineSource === 'before-attach') assert.ok(['before-attach', 'unknown'].includes(verdict), verdict);
      const figure = notes.some(note => note.includes('nvidia-smi'));
      if (figure) assert.ok(total(report, 'driver').liveBytes >= before[0][1].bytes, 'the driver has the tensors');
    },
  );
}
