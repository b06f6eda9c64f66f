#!/usr/bin/env node
// `npm run test:faults [-- KIND… --times N]`: programs that are killed, split and end in every way, and tracers that are disturbed,
// at random instants. Each time the program's output and exit status are those that it has without the tracer, and no allocation
// is missing that is not counted as lost.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inRoot } from '../project/root.mjs';

const job = inRoot('test/faults/job.py');
const cli = inRoot('dist/cli.js');
const python = process.env.PYTHON ?? 'python3';
const simulator = inRoot('dist/native/simulator');
const wait = ms => new Promise(done => setTimeout(done, ms));

/** A run that others may disturb: what it printed, how it ended, what its processes counted. */
class Run {
  constructor(kind, traced, disk) {
    this.folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-fault-'));
    for (const name of ['truth', 'run', 'cache']) mkdirSync(join(this.folder, name), { mode: 0o700 });
    this.disk = traced && disk ? this.mount(disk) : null;
    this.report = join(this.folder, 'report.json');
    const command = [python, job, kind];
    const options = ['run', '--simulate-gpu', '--format', 'none', '-o', join(this.folder, 't.gputrace'), '--report'];
    const words = traced ? [process.execPath, cli, ...options, this.report, '--', ...command] : command;
    const env = { ...process.env, GMT_TRUTH: join(this.folder, 'truth'), PYTHONDONTWRITEBYTECODE: '1' };
    env.XDG_RUNTIME_DIR = join(this.folder, 'run');
    env.XDG_CACHE_HOME = join(this.folder, 'cache');
    if (!traced) env.LD_LIBRARY_PATH = simulator;
    this.child = spawn(words[0], words.slice(1), {
      env,
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const late = setTimeout(() => process.kill(-this.child.pid, 'SIGKILL'), 120_000);
    this.stdout = this.stderr = '';
    this.child.stdout.setEncoding('utf8').on('data', text => (this.stdout += text));
    this.child.stderr.setEncoding('utf8').on('data', text => (this.stderr += text));
    this.over = new Promise(done =>
      this.child.once('close', (status, signal) => (clearTimeout(late), done({ status, signal }))),
    );
  }

  mount(bytes) {
    const disk = join(this.folder, 'run');
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'gmt-fault', disk]).status !== 0) return null;
    return disk;
  }

  /** Once the job has begun its work. */
  async busy() {
    while (!this.stdout.includes('busy')) {
      if (this.child.exitCode !== null) throw new Error(`The job never began: ${this.stderr}`);
      await wait(2);
    }
  }

  get directory() {
    const all = join(this.folder, 'run/gpu-memory-trace');
    return join(all, readdirSync(all)[0] ?? '');
  }

  get pid() {
    return Number(readdirSync(join(this.folder, 'truth')).sort((a, b) => a - b)[0]);
  }

  /** By process, the allocations that were begun and those that were finished. */
  truth() {
    const folder = join(this.folder, 'truth');
    return readdirSync(folder).map(name => {
      const words = new BigUint64Array(new Uint8Array(readFileSync(join(folder, name))).buffer);
      const sum = which => Number(words.filter((_, at) => at % 2 === which).reduce((a, b) => a + b, 0n));
      return { pid: Number(name), begun: sum(0), finished: sum(1) };
    });
  }

  end() {
    if (this.disk) spawnSync('umount', ['--lazy', this.disk]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Throws unless the report has every allocation that the job knows of, or counts it as lost. */
function compare(run, report, { losses = false } = {}) {
  const lost = report.lost.events;
  if (lost > 0 && !losses) throw new Error(`${lost} events were lost: ${JSON.stringify(report.lost)}`);
  let missing = 0;
  for (const { pid, begun, finished } of run.truth()) {
    const rows = report.totals.filter(row => row.layer === 'tensor' && row.pid === pid);
    const told = rows.reduce((sum, row) => sum + row.allocations, 0);
    if (told > begun) throw new Error(`Process ${pid} began ${begun} allocations, and ${told} are told.`);
    missing += Math.max(0, finished - told);
  }
  if (missing > lost) throw new Error(`${missing} allocations are missing, and ${lost} were counted as lost.`);
}

const readReport = file => JSON.parse(readFileSync(file, 'utf8'));

/** The report of a trace that its launcher could not finish. */
function reportOf(directory) {
  const words = [cli, 'report', directory, '--format', 'json'];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (!stdout) throw new Error(`${directory} could not be read: ${stderr}`);
  return JSON.parse(stdout);
}

/** Begins and ends a shortage of room on the trace's disk at random instants, until the job is over. */
async function starve(run) {
  const hog = join(run.disk, 'hog');
  for (let over = false; !over;) {
    spawnSync('dd', ['if=/dev/zero', `of=${hog}`, 'bs=64k'], { stdio: 'ignore' });
    over = await Promise.race([run.over.then(() => true), wait(Math.random() * 100)]);
    rmSync(hog, { force: true });
    over ||= await Promise.race([run.over.then(() => true), wait(Math.random() * 100)]);
  }
}

const random = () => wait(Math.random() * 300);

// By case: `job`, a function of job.py; `disturb`, what is done to the traced run; `losses`, whether events may be lost, counted;
// `judge`, where the report is not simply compared.
const CASES = {
  'killed job': {
    job: 'busy',
    disturb: async run => (await run.busy(), await random(), process.kill(run.pid, 'SIGKILL')),
    plain: async run => (await run.busy(), run.child.kill('SIGKILL')),
  },
  'killed reader': {
    job: 'steady',
    disturb: async run => (await run.busy(), await random(), run.child.kill('SIGKILL')),
    status: false,
    judge: run => compare(run, reportOf(run.directory)),
  },
  'disk full and free again': { job: 'steady', disk: '24m', disturb: starve, losses: true },
  'directory removed': {
    job: 'steady',
    disturb: async run => (await run.busy(), await random(), rmSync(run.directory, { recursive: true, force: true })),
    losses: true,
    judge: () => {},
  },
  'forks amid threads': { job: 'forks' },
  'forks of forks': { job: 'early_forks' },
  'exec chain': { job: 'becomes' },
  'vfork, shell, posix_spawn': { job: 'starts' },
  'orphans and daemons': { job: 'orphans', judge: () => {} },
  multiprocessing: { job: 'pools' },
  'daemon threads at exit': { job: 'daemons' },
  'os._exit amid threads': { job: 'leaves' },
};

/** What the job prints and how it ends without the tracer. A shell says a signal as 128 and its number. */
async function plainly({ job: kind, plain }) {
  const run = new Run(kind, false);
  if (plain) await plain(run);
  const { status, signal } = await run.over;
  const seen = { status: signal === 'SIGKILL' ? 137 : status, stdout: run.stdout, stderr: run.stderr };
  run.end();
  return seen;
}

async function once(fault, expected) {
  const run = new Run(fault.job, true, fault.disk);
  try {
    if (fault.disk && !run.disk) return 'a small disk can be mounted by root alone';
    await fault.disturb?.(run);
    const { status } = await run.over;
    if (run.stdout !== expected.stdout) throw new Error(`It printed ${run.stdout}, not ${expected.stdout}.`);
    if (fault.status !== false && status !== expected.status)
      throw new Error(`It ended with ${status}, not ${expected.status}. ${run.stderr}`);
    const own = run.stderr.split('\n').filter(line => line && !/^(gpu-memtrace: | {2}|\/)/.test(line));
    if (fault.status !== false && own.join('\n') !== expected.stderr.trim()) throw new Error(`It said ${run.stderr}`);
    (fault.judge ?? (() => compare(run, readReport(run.report), fault)))(run);
    return null;
  } finally {
    run.end();
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '3' } },
});
if (!existsSync(cli)) {
  process.stderr.write('dist/cli.js is missing: run `npm run build` first.\n');
  process.exit(2);
}
let failed = 0;
for (const [name, fault] of Object.entries(CASES)) {
  if (positionals.length > 0 && !positionals.some(word => name.includes(word))) continue;
  const expected = await plainly(fault);
  let good = 0;
  let note = '';
  for (let turn = 0; turn < Number(values.times); turn++) {
    const skipped = await once(fault, expected).catch(error => {
      failed++;
      note += `\n  ${error.message}`;
      return error;
    });
    if (skipped === null) good++;
    else if (typeof skipped === 'string') note = `: skipped, ${skipped}`;
    if (note) break;
  }
  process.stdout.write(`${name.padEnd(28)} ${String(good).padStart(5)} times equal${note}\n`);
}
process.exit(failed ? 1 : 0);
