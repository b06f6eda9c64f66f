// Ranges that a program names by NVTX and record_function: names, order and the bytes allocated inside are those of the job itself.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { jobFile, python } from './traced.mjs';

const cli = join(dirname(fileURLToPath(import.meta.url)), '../../dist/cli.js');

test('ranges are those of the job, with what was allocated in each', t => {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-ranges-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [trace, truth] = ['job.gputrace', 'truth.json'].map(name => join(folder, name));
  const env = { ...process.env, GMT_TRUTH: truth };
  const ask = (...words) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], {
      ...{ env, encoding: 'utf8', maxBuffer: 1 << 30 },
    });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  ask('run', '--format', 'none', '-o', trace, '--', python, jobFile('named_ranges'));
  const told = JSON.parse(readFileSync(truth, 'utf8'));
  const { traceEvents } = JSON.parse(ask('report', trace, '--format', 'perfetto'));
  const allocations = traceEvents.filter(({ cat, ph, args }) => cat === 'tensor' && ph === 'b' && args?.bytes);
  const names = new Set(told.ranges.map(([name]) => name));
  const ranges = traceEvents.filter(({ cat }) => cat === 'range');
  const found = ranges.flatMap(({ ph, name, ts }, at) => {
    const own = name.split(',')[0]; // PyTorch adds numbers to what it pushes itself
    if (ph !== 'b' || !names.has(own)) return [];
    const end = ranges[at + 1].ts;
    const inside = allocations.filter(one => one.ts >= ts && one.ts <= end);
    return [[own, inside.reduce((sum, { args }) => sum + args.bytes, 0)]];
  });
  assert.deepEqual(found, told.ranges);
  const { peak } = JSON.parse(ask('report', trace, '--at', 'peak', '--format', 'json')).moment;
  assert.equal(peak.ranges, 'across');
  const all = ranges.filter(({ ph }) => ph === 'b').length;
  console.log(
    `${found.length} ranges of the job, ${all} in all; the package nvtx ${told.package ? 'too' : 'is not here'}`,
  );
});
