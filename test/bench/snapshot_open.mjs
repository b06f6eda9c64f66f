// How long a memory snapshot of PyTorch takes to open: the conversion, and the first answers that a page asks for.
// node test/bench/snapshot_open.mjs [megabytes, 100]
// node test/bench/snapshot_open.mjs table: processor time by depth, stacks and blocks
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const table = process.argv[2] === 'table';
const megabytes = table ? 0 : Number(process.argv[2] ?? 100);
const root = resolve(import.meta.dirname ?? '.', '../..');
const loaded = { exports: {} };
process.dlopen(loaded, join(root, 'dist/native/gpu_memory_trace.node'));
const addon = loaded.exports;
const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-bench-'));
const snapshot = join(folder, 'x.pickle');
const trace = join(folder, 'x.gputrace');
const WINDOW = { from: 0, to: 50, descending: true };

/** About 16 kB a step. */
function make(steps = Math.round((megabytes * 1e6) / 16_600), depth = 24, lines = 50) {
  const script = join(root, 'test/workloads/snapshots/memory_snapshot.py');
  const words = ['--steps', steps, '--depth', depth, '--lines', lines].map(String);
  execFileSync('python3', [script, snapshot, ...words], { timeout: 120_000 });
}

/** The least of three, per event: it is the same where opening is linear in the events, and does not rise with depth. */
async function printTable() {
  console.log('| depth | stacks | blocks | events | ms | ns an event |\n|---:|---:|---:|---:|---:|---:|');
  for (const depth of [24, 60, 126, 127, 300, 500]) {
    for (const [lines, steps] of [
      [10, 2500],
      [50, 250],
      [50, 500],
      [50, 1000],
      [500, 50],
    ]) {
      make(steps, depth, lines);
      const runs = [await open(), await open(), await open()];
      const { cpuMs, events } = runs.sort((a, b) => a.cpuMs - b.cpuMs)[0];
      const row = [depth + 2, lines + 1, steps, events, cpuMs.toFixed(0), ((cpuMs * 1e6) / events).toFixed(0)];
      console.log(`| ${row.join(' | ')} |`);
    }
  }
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
  if (table) {
    await printTable();
  } else {
    make();
    console.log(`${(statSync(snapshot).size / 1e6).toFixed(1)} MB`);
    for (let round = 0; round < 5; round++) {
      const { cpuMs, events, convertedMs, answeredMs, totalMs } = await open();
      const ms = [convertedMs, answeredMs, totalMs, cpuMs].map(value => value.toFixed(0));
      console.log(
        `${events} events: converted in ${ms[0]} ms, first answers ${ms[1]} ms later, in all ${ms[2]} ms (processor time ${ms[3]} ms)`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
