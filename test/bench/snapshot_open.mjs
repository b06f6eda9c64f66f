// How long a memory snapshot of PyTorch takes to open: the conversion, and the first answers that a page asks for.
// node test/bench/snapshot_open.mjs [megabytes, 100]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const megabytes = Number(process.argv[2] ?? 100);
const root = resolve(import.meta.dirname ?? '.', '../..');
const loaded = { exports: {} };
process.dlopen(loaded, join(root, 'dist/native/gpu_memory_trace.node'));
const addon = loaded.exports;
const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-bench-'));
const snapshot = join(folder, 'x.pickle');
const trace = join(folder, 'x.gputrace');
const WINDOW = { from: 0, to: 50, descending: true };

/** About 16 kB a step. */
function make() {
  const steps = String(Math.round((megabytes * 1e6) / 16_600));
  const script = join(root, 'test/workloads/memory_snapshot.py');
  execFileSync('python3', [script, snapshot, '--steps', steps, '--depth', '24'], { timeout: 120_000 });
}

async function open() {
  const start = performance.now();
  const cpu = process.cpuUsage();
  await addon.importSnapshot(snapshot, trace);
  const converted = performance.now();
  const session = addon.open(trace);
  await session.settle();
  const info = session.info();
  session.sites({ layer: 'tensor', groupBy: 'line', sort: 'liveBytes', ...WINDOW });
  session.allocations({ sort: 'bytes', ...WINDOW });
  const end = performance.now();
  session.close();
  const used = process.cpuUsage(cpu);
  const cpuMs = (used.user + used.system) / 1000;
  return {
    cpuMs,
    events: info.events,
    convertedMs: converted - start,
    answeredMs: end - converted,
    totalMs: end - start,
  };
}

try {
  make();
  console.log(`${(statSync(snapshot).size / 1e6).toFixed(1)} MB`);
  for (let round = 0; round < 5; round++) {
    const { cpuMs, events, convertedMs, answeredMs, totalMs } = await open();
    const ms = [convertedMs, answeredMs, totalMs, cpuMs].map(value => value.toFixed(0));
    console.log(
      `${events} events: converted in ${ms[0]} ms, first answers ${ms[1]} ms later, in all ${ms[2]} ms (processor time ${ms[3]} ms)`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
