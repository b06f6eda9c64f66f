#!/usr/bin/env node
// `npm run test:faults [-- KIND… --times N]`: programs that are killed, split and end in every way, and tracers that are disturbed,
// at random instants. Each time the program's output and exit status are those that it has without the tracer, and no allocation or
// free is missing that is not counted as lost. Recorders have so little room that each run has folded when it ends.
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inRoot } from '../project/root.mjs';
import { simulator } from '../simulator/variables.mjs';
import { CROWDS } from './crowds.mjs';

const job = inRoot('test/faults/endings.py');
const cli = inRoot('dist/cli.js');
const python = process.env.PYTHON ?? 'python3';
const wait = ms => new Promise(done => setTimeout(done, ms));
/** Where gmt_file_header (native/wire/layout.h) has gone_sequence. */
const GONE_AT = 192;
/** Renamed first: a recorder may still write there. */
function remove(folder) {
  renameSync(folder, `${folder}-gone`);
  rmSync(`${folder}-gone`, { recursive: true, force: true });
}
const narrow = ['--detail', '256KB', '--budget', '8MB'];

/** A run that others may disturb: what it printed, how it ended, what its processes counted. */
class Run {
  constructor({ job: kind, arguments: own = [], disk, words: more = [], before }, traced) {
    this.folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-fault-'));
    const places = join(this.folder, 'places'); // all that the tracer chooses itself lies there
    for (const folder of [places, join(this.folder, 'truth')]) mkdirSync(folder);
    this.disk = traced && disk ? this.mount(places, disk) : null;
    for (const name of ['run', 'cache', 'tmp']) mkdirSync(join(places, name), { mode: 0o700 });
    if (this.disk) before?.(this);
    this.report = join(this.folder, 'report.json');
    const command = [python, '-W', 'ignore::DeprecationWarning', job, kind, ...own]; // 3.12 warns of forks amid threads
    const options = ['run', '--simulate-gpu', '--format', 'none', ...more, '-o', join(this.folder, 't.gputrace')];
    const words = traced ? [process.execPath, cli, ...options, '--report', this.report, '--', ...command] : command;
    const env = { ...process.env, GMT_TRUTH: join(this.folder, 'truth'), PYTHONDONTWRITEBYTECODE: '1' };
    env.XDG_RUNTIME_DIR = join(places, 'run');
    env.XDG_CACHE_HOME = join(places, 'cache');
    env.TMPDIR = join(places, 'tmp');
    if (!traced) env.LD_LIBRARY_PATH = simulator;
    this.child = spawn(words[0], words.slice(1), {
      env,
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const late = setTimeout(() => process.kill(-this.child.pid, 'SIGKILL'), 300_000);
    this.stdout = this.stderr = '';
    this.child.stdout.setEncoding('utf8').on('data', text => (this.stdout += text));
    this.child.stderr.setEncoding('utf8').on('data', text => (this.stderr += text));
    this.folded = this.ended = false;
    const watch = setInterval(() => this.look(), 10);
    this.over = new Promise(done =>
      this.child.once('close', (status, signal) => {
        this.ended = true;
        clearTimeout(late);
        clearInterval(watch);
        done({ status, signal });
      }),
    );
  }

  mount(folder, bytes) {
    return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'gmt-fault', folder]).status === 0 ? folder : null;
  }

  /** Whether a recorder has given something back. */
  look() {
    try {
      const { directory } = this;
      for (const name of readdirSync(directory).filter(file => file.endsWith('.gmtlog'))) {
        const log = openSync(join(directory, name));
        const word = Buffer.alloc(8);
        this.folded ||= readSync(log, word, 0, 8, GONE_AT) === 8 && word.readBigUInt64LE() > 0n;
        closeSync(log);
      }
    } catch {
      // There is no log yet, or none any more.
    }
  }

  /** Sends a signal to the recorders of this run. */
  signal(name) {
    for (const pid of this.recorders()) kill(pid, name);
  }

  recorders() {
    return readdirSync('/proc')
      .map(Number)
      .filter(pid => {
        try {
          const [program, folder] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
          return program.endsWith('gpu-memtrace-recorder') && folder.startsWith(this.folder);
        } catch {
          return false;
        }
      });
  }

  /** Once the job has begun its work. */
  async busy(word = 'busy\n') {
    while (!this.stdout.includes(word)) {
      if (this.ended) throw new Error(`The job never began: ${this.stderr}`);
      await wait(2);
    }
  }

  /** Once something was given back, at a random instant. */
  async folds() {
    while (!this.folded && !this.ended) await wait(2);
    await random();
  }

  get directory() {
    const all = join(this.folder, 'places/run/gpu-memory-trace');
    return join(all, readdirSync(all)[0] ?? '');
  }

  get pid() {
    return Number(readdirSync(join(this.folder, 'truth')).sort((a, b) => a - b)[0]);
  }

  /** By process, what was begun and finished, and the bytes that live (endings.py). */
  truth() {
    const folder = join(this.folder, 'truth');
    return readdirSync(folder).map(name => {
      const words = new BigInt64Array(new Uint8Array(readFileSync(join(folder, name))).buffer);
      const sum = which => Number(words.filter((_, at) => at % 5 === which).reduce((a, b) => a + b, 0n));
      const [begun, made, freeing, freed, liveBytes] = [0, 1, 2, 3, 4].map(sum);
      return { pid: Number(name), allocations: [made, begun], frees: [freed, freeing], liveBytes };
    });
  }

  async end() {
    if (this.disk) spawnSync('umount', ['--lazy', this.disk]);
    remove(this.folder);
    for (let ms = 0; this.recorders().length > 0; ms += 50) {
      if (ms > 5000) throw (this.signal('SIGKILL'), new Error('A recorder outlived its directory.'));
      await wait(50);
    }
  }
}

function kill(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It ended.
  }
}

/**
 * Throws unless the report has all that the job knows of, or counts it as lost. `losses`: the causes that are allowed; `must`: they have
 * to be there.
 */
function compare(run, report, { losses = [], must = false } = {}) {
  const { events: lost, byCause } = report.lost;
  if (Object.keys(byCause).some(cause => !losses.includes(cause)) || (must && lost === 0))
    throw new Error(`${lost} events were lost: ${JSON.stringify(byCause)}`);
  const missing = { allocations: 0, frees: 0 }; // a free whose allocation was lost frees nothing
  for (const process of run.truth()) {
    const rows = report.totals.filter(row => row.layer === 'tensor' && row.pid === process.pid);
    const told = key => rows.reduce((sum, row) => sum + row[key], 0);
    for (const what of ['allocations', 'frees']) {
      const [finished, begun] = process[what];
      if (told(what) > begun) throw new Error(`Process ${process.pid} began ${begun} ${what}, not ${told(what)}.`);
      missing[what] += Math.max(0, finished - told(what));
    }
    const ended = process.allocations[0] === process.allocations[1] && process.frees[0] === process.frees[1];
    if (lost > 0 || !ended || rows.length === 0) continue;
    const live = report.allocations.filter(block => block.layer === 'tensor' && block.pid === process.pid);
    const bytes = live.reduce((sum, block) => sum + block.bytes, 0);
    const counts = [bytes, told('liveBytes'), live.length];
    const own = [process.liveBytes, process.liveBytes, process.allocations[0] - process.frees[0]];
    if (counts.join() !== own.join()) throw new Error(`Alive are ${own}; told are ${counts}.`);
  }
  const most = Math.max(...Object.values(missing));
  if (most > lost) throw new Error(`${JSON.stringify(missing)} are missing, and ${lost} events were counted as lost.`);
}

const readReport = file => JSON.parse(readFileSync(file, 'utf8'));

function reportOf(directory) {
  const words = [cli, 'report', directory, '--format', 'json'];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (!stdout) throw new Error(`${directory} could not be read: ${stderr}`);
  return JSON.parse(stdout);
}

/** The same where who reads it has the recorder go on; read twice, it is the same. */
function compareTwice(run, how) {
  const [first, second] = [reportOf(run.directory), reportOf(run.directory)];
  if (JSON.stringify(first.totals) !== JSON.stringify(second.totals))
    throw new Error('Read again, it is another trace.');
  compare(run, second, how);
}

const hog = run => join(run.disk, 'hog');
function fill(run) {
  spawnSync('dd', ['if=/dev/zero', `of=${hog(run)}`, 'bs=64k'], { stdio: 'ignore' });
  spawnSync('dd', ['if=/dev/zero', `of=${hog(run)}`, 'bs=4k', 'oflag=append', 'conv=notrunc'], { stdio: 'ignore' });
}

/** All but a few pages of the disk. */
function fillBefore(run) {
  const { bavail, bsize } = statfsSync(run.disk);
  const free = Math.floor(Math.random() * 400);
  writeFileSync(hog(run), Buffer.alloc(Math.max(0, bavail - free) * bsize));
}

/** Acts at random instants, until the job is over. */
async function again(run, ...acts) {
  for (let turn = 0; ; turn++) {
    if (await Promise.race([run.over.then(() => true), wait(Math.random() * 300)])) return;
    acts[turn % acts.length](run);
  }
}

const random = () => wait(Math.random() * 300);
const amid = async run => (await run.busy(), await random());
const killed = { plain: async run => (await run.busy(), run.child.kill('SIGKILL')) };
const full = {
  job: 'lasting',
  words: ['--detail', '256KB', '--budget', '8MB'],
  disk: '12m',
  losses: ['disk full', 'budget'],
};

// By case: `job`, a function of endings.py; `disturb`, what is done to the traced run; `losses`, why events may be lost; `judge`: no compare().
const CASES = {
  'killed job': {
    job: 'busy',
    losses: ['torn'],
    disturb: async run => (await amid(run), process.kill(run.pid, 'SIGKILL')),
    ...killed,
  },
  'killed recorder': {
    job: 'lasting',
    words: narrow,
    folds: true,
    losses: ['budget'],
    disturb: async run => (await run.folds(), await again(run, () => run.signal('SIGKILL'))),
  },
  'killed recorder and job': {
    job: 'busy',
    words: narrow,
    folds: true,
    losses: ['budget', 'torn'],
    disturb: async run => {
      await run.folds();
      run.signal('SIGKILL');
      process.kill(run.pid, 'SIGKILL');
    },
    ...killed,
  },
  'killed recorder, job and launcher': {
    job: 'busy',
    words: narrow,
    folds: true,
    status: false,
    disturb: async run => {
      await run.folds();
      run.child.kill('SIGKILL');
      run.signal('SIGKILL');
      process.kill(run.pid, 'SIGKILL');
    },
    judge: run => compareTwice(run, { losses: ['budget', 'torn'] }),
    ...killed,
  },
  'stopped recorder': {
    job: 'lasting',
    words: narrow,
    losses: ['budget'],
    must: true,
    disturb: async run => (await amid(run), run.signal('SIGSTOP')),
  },
  'killed launcher': {
    job: 'lasting',
    words: narrow,
    folds: true,
    losses: ['budget'],
    disturb: async run => (await amid(run), run.child.kill('SIGKILL')),
    status: false,
    judge: run => compareTwice(run, { losses: ['budget'] }),
  },
  'killed reader': {
    job: 'lasting',
    words: narrow,
    folds: true,
    losses: ['budget'],
    disturb: async run => {
      await run.busy();
      let reader;
      const begin = () => (reader = spawn(process.execPath, [cli, 'report', run.directory], { stdio: 'ignore' }));
      await again(run, begin, () => reader.kill('SIGKILL'));
      reader?.kill('SIGKILL');
    },
  },
  'directory removed': {
    job: 'lasting',
    words: narrow,
    disturb: async run => (await amid(run), spawnSync('rm', ['-rf', run.directory])),
    judge: () => {},
  },
  'disk full and free again': {
    ...full,
    disturb: async run => (await run.busy(), await again(run, fill, () => rmSync(hog(run), { force: true }))),
  },
  'disk full in the middle': { ...full, disturb: async run => (await amid(run), fill(run)) },
  'disk full at the end': { ...full, disturb: async run => (await run.busy('over\n'), fill(run)) },
  'disk full from the start': {
    ...full,
    before: fillBefore,
    // Where not even a log could begin, that is said.
    judge: run => /(runs without being|is not) recorded/.test(run.stderr) || compare(run, readReport(run.report), full),
  },
  ...CROWDS,
  'forks amid threads': { job: 'forks' },
  'forks of forks': { job: 'early_forks' },
  'exec chain': { job: 'becomes' },
  'vfork, shell, posix_spawn': { job: 'starts' },
  'orphans and daemons': { job: 'orphans', judge: () => {} },
  multiprocessing: { job: 'pools' },
  greenlets: { job: 'switches' },
  'sub-interpreters': { job: 'interpreters' },
  'daemon threads at exit': { job: 'daemons' },
  'os._exit amid threads': { job: 'leaves', losses: ['torn'] }, // who writes an event when the program ends
};

/** What the job prints and how it ends without the tracer. A shell says a signal as 128 and its number. */
async function plainly(fault) {
  const run = new Run(fault, false);
  if (fault.plain) await fault.plain(run);
  const { status, signal } = await run.over;
  const seen = { status: signal === 'SIGKILL' ? 137 : status, stdout: run.stdout, stderr: run.stderr };
  await run.end();
  return seen;
}

async function once(fault, expected) {
  const run = new Run(fault, true);
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
    if (fault.folds && !run.folded) throw new Error('Nothing was given back.');
    return null;
  } finally {
    await run.end();
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
  let [good, note] = [0, /^skipped,/.test(expected.stdout) ? `: ${expected.stdout.trim()}` : ''];
  for (let turn = 0; turn < Number(values.times) && !note; turn++) {
    const skipped = await once(fault, expected).catch(error => {
      failed++;
      note += `\n  ${error.message}`;
      return error;
    });
    if (skipped === null) good++;
    else if (typeof skipped === 'string') note = `: skipped, ${skipped}`;
  }
  process.stdout.write(`${name.padEnd(28)} ${String(good).padStart(5)} times equal${note}\n`);
}
process.exit(failed ? 1 : 0);
