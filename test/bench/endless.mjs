// A job that makes events without end, its recorder and a reader: node test/bench/endless.mjs [EVENTS] [EVENTS_PER_SECOND] [run's options]
// Prints what the disk and the recorder took while it ran, and whether the trace says what the job's own account says.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRoot } from '../project/root.mjs';

const [events = '3e8', rate = '1.5e6', ...options] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-endless-'));
const job = join(folder, 'job');
const compiled = spawnSync('c++', ['-O2', '-std=c++20', '-o', job, inRoot('test/bench/endless.cpp'), '-ldl']);
if (compiled.status !== 0) throw new Error(String(compiled.stderr));
for (const name of ['run', 'cache']) mkdirSync(join(folder, name), { mode: 0o700 });
const env = { ...process.env, XDG_RUNTIME_DIR: join(folder, 'run'), XDG_CACHE_HOME: join(folder, 'cache') };
const report = join(folder, 'report.json');
const words = [
  'run',
  '--simulate-gpu',
  '--format',
  'none',
  '--holders',
  'never',
  '--report',
  report,
  '-o',
  join(folder, 't.gputrace'),
];
const child = spawn(process.execPath, [inRoot('dist/cli.js'), ...words, ...options, '--', job, events, rate], { env });
let stdout = '';
child.stdout.on('data', text => (stdout += text));
child.stderr.pipe(process.stderr);

const traces = join(folder, 'run/gpu-memory-trace');
const directory = () => (existsSync(traces) ? join(traces, readdirSync(traces)[0] ?? '') : null);
const quiet = (use, otherwise) => {
  try {
    return use();
  } catch {
    return otherwise;
  }
};
const bytesIn = path =>
  readdirSync(path).reduce((sum, name) => sum + quiet(() => statSync(join(path, name)).blocks * 512, 0), 0);
function recorder() {
  const is = pid =>
    quiet(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '').startsWith(
      inRoot('dist/native/gpu-memtrace-recorder'),
    );
  return readdirSync('/proc').find(name => /^\d+$/.test(name) && is(name));
}
const memory = pid => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kb = name => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return { rss: kb('VmRSS') / 1024, tables: kb('VmPTE') / 1024 };
};

const seen = [];
let pid;
const begun = Date.now();
const timer = setInterval(() => {
  pid ??= recorder();
  const [at, disk] = [(Date.now() - begun) / 1000, quiet(() => bytesIn(directory()), 0)];
  seen.push({ at, disk, ...quiet(() => memory(pid), { rss: 0, tables: 0 }) });
}, 50);
const status = await new Promise(done => child.once('close', done));
clearInterval(timer);
const took = (Date.now() - begun) / 1000;

const own = JSON.parse(stdout.trim().split('\n').at(-1));
const told = JSON.parse(readFileSync(report, 'utf8'));
const tensor = told.totals.find(row => row.layer === 'tensor');
const running = seen.filter(({ rss }) => rss > 0);
const half = running.slice(running.length / 2);
const range = list => `${Math.min(...list).toFixed(1)} to ${Math.max(...list).toFixed(1)}`;
const same = ['allocations', 'frees', 'liveBytes'].every(key => own[key] === tensor[key]);
const rows = {
  'events of the job': own.events.toLocaleString('en'),
  'its time': `${own.seconds} s (${(own.events / own.seconds / 1e6).toFixed(2)} M/s); with the last table and the saved trace ${took.toFixed(1)} s`,
  'disk, most': `${(Math.max(...seen.map(({ disk }) => disk)) / 1024 ** 2).toFixed(0)} MiB`,
  'recorder, memory in the second half': `${range(half.map(({ rss }) => rss))} MiB, and page tables ${range(half.map(({ tables }) => tables))} MiB`,
  lost: JSON.stringify(told.lost.byCause),
  'live set and totals as the job’s own': same ? 'yes' : `NO: ${JSON.stringify([own, tensor])}`,
  'saved trace': `${(statSync(join(folder, 't.gputrace')).size / 1024 ** 2).toFixed(0)} MiB`,
};
for (const [what, value] of Object.entries(rows)) console.log(`| ${what} | ${value} |`);
rmSync(folder, { recursive: true, force: true });
process.exit(status === 0 && (same || told.lost.events > 0) ? 0 : 1);
