// A job whose log is several times its budget: nothing is lost, the disk stays within the budget, and all totals are the job's own.
// GMT_SECONDS: how long it trains (30).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { assertTensorLayer } from './layer.mjs';
import { jobFile, python } from './traced.mjs';

const cli = join(dirname(fileURLToPath(import.meta.url)), '../../dist/cli.js');
const MIB = 1024 ** 2;
const BUDGET_MIB = 12;

/** Bytes that the files of all traces below `folder` take of the disk; a file that goes meanwhile counts as none. */
function diskBytes(folder) {
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = statSync(join(folder, name), { throwIfNoEntry: false });
    if (file?.isFile()) bytes += file.blocks * 512;
  }
  return bytes;
}

test('endless: a transformer within a budget of disk, equal to torch.cuda.memory_stats()', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-endless-'));
  const [traces, truth, report] = ['run', 'truth.json', 'report.json'].map(name => join(folder, name));
  mkdirSync(traces, { mode: 0o700 });
  const options = ['--format', 'none', '--report', report, '-o', join(folder, 'job.gputrace')];
  const space = ['--budget', `${BUDGET_MIB}MB`, '--detail', '3MB'];
  const env = { GMT_SECONDS: '30', ...process.env, XDG_RUNTIME_DIR: traces, GMT_TRUTH: truth };
  const child = spawn(process.execPath, [cli, 'run', ...options, ...space, '--', python, jobFile('endless')], { env });
  let [said, most] = ['', 0];
  child.stderr.on('data', text => (said += text));
  const timer = setInterval(() => (most = Math.max(most, diskBytes(traces))), 50);
  const status = await new Promise(done => child.once('close', done));
  clearInterval(timer);
  assert.equal(status, 0, said);
  const told = JSON.parse(readFileSync(report, 'utf8'));
  const job = JSON.parse(readFileSync(truth, 'utf8'));
  const saved = statSync(join(folder, 'job.gputrace')).size;
  rmSync(folder, { recursive: true, force: true });
  assert.deepEqual(told.lost.byCause, {}, said);
  assertTensorLayer(told, job.stats);
  const events = job.stats['allocation.all'].allocated + job.stats['allocation.all'].freed;
  console.log(
    `${events.toLocaleString('en')} events, ${job.steps} steps; disk ${Math.round(most / MIB)} MiB, saved ${Math.round(saved / MIB)} MiB`,
  );
  assert.ok(
    events * 32 > 2 * BUDGET_MIB * MIB,
    `${events} events are too few to fill the budget twice: give GMT_SECONDS`,
  );
  assert.ok(most <= BUDGET_MIB * MIB, `${most / MIB} MiB of disk`);
});
