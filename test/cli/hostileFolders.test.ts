// Folders and files that another person made: they are read, or a sentence says why not; nothing outside them changes, and nothing waits.
// In the long run each name with each kind and each verb, one at a time.
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { LONG } from '../long.mjs';
import { KINDS, NAMES, plant, Victim } from './hostile';
import { DRIVER_SCRIPT, kill, Place, python, until, type Ended } from './launcher';

const NOBODY = 65534;
const LIMIT_MS = 20_000;
const root = process.getuid?.() === 0;
const skip = root ? false : 'only root can make files of another user';

/** A trace that is being recorded. Gives its directory, and the PID of the program. */
async function live(place: Place): Promise<{ directory: string; pid: number; launcher: number }> {
  const job = place.write(
    'job.py',
    `${DRIVER_SCRIPT}alloc(1 << 20)\nprint("PID", os.getpid(), flush=True)\ntime.sleep(600)\n`,
  );
  const started = place.start(['run', '--simulate-gpu', '--format', 'none', '--', python, job]);
  const pid = Number((await started.printed(/PID (\d+)/))[1]);
  place.atEnd(() => kill(pid));
  const above = place.path('run/gpu-memory-trace');
  return { directory: join(above, readdirSync(above)[0] ?? ''), pid, launcher: started.pid };
}

function recorders(): string[] {
  return readdirSync('/proc').flatMap(id => {
    try {
      const [program, folder] = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
      return program?.endsWith('gpu-memtrace-recorder') && folder !== undefined ? [`${id} ${folder}`] : [];
    } catch {
      return [];
    }
  });
}

/** A copy of a trace directory as it may come from somebody else. */
function copyOf(directory: string, to: string): string {
  cpSync(directory, to, { recursive: true });
  return to;
}

async function ends(place: Place, words: string[], env: NodeJS.ProcessEnv = {}): Promise<Ended | null> {
  const started = place.start(words, env);
  const late = new Promise<null>(done => setTimeout(() => done(null), LIMIT_MS).unref());
  const ended = await Promise.race([started.ended, late]);
  if (ended === null) kill(-started.pid);
  return ended;
}

const VERBS: Record<string, (directory: string) => string[]> = {
  report: directory => ['report', directory],
  json: directory => ['report', directory, '--format', 'json'],
  export: directory => ['report', directory, '--format', 'perfetto', '-o', `${directory}.out`],
  mark: directory => ['mark', directory, 'here'],
  record: directory => ['record', directory, 'off'],
  holders: directory => ['holders', directory],
  job: directory => ['report', dirname(directory)],
};

test(
  'what is in the place of a file of a trace never hangs a verb, nor leads it out',
  { timeout: 3_600_000 },
  async t => {
    const place = new Place(t);
    const { directory } = await live(place);
    const kinds = Object.keys(KINDS).filter(kind => root || kind !== 'device');
    const sets = LONG
      ? NAMES.map(name => [name])
      : [NAMES.filter((_, i) => i % 2 === 0), NAMES.filter((_, i) => i % 2 === 1)];
    const verbs = Object.keys(VERBS);
    const every = kinds.flatMap(kind => sets.flatMap(names => verbs.map(verb => ({ kind, names, verb }))));
    const attacks = LONG ? every : every.filter((_, i) => i % 9 === 0); // of each kind, and by each verb
    const wrong: string[] = [];
    const attack = async ({ kind, names, verb }: (typeof attacks)[number], i: number): Promise<void> => {
      const victim = new Victim(place.path(`victim-${i}`));
      const folder = place.path(`job-${i}`);
      mkdirSync(join(folder, 'traces'), { recursive: true });
      const hostile = copyOf(directory, join(folder, 'traces', 'x.gputrace'));
      for (const name of names) plant(kind, join(hostile, name), victim.file);
      const ended = await ends(place, (VERBS[verb] ?? (() => []))(verb === 'job' ? join(folder, 'traces') : hostile));
      const what = `${verb}, ${kind} ${JSON.stringify(names)}`;
      if (ended === null) wrong.push(`${what}: hangs`);
      else if (ended.signal !== null || ![0, 1, 2].includes(ended.status ?? -1) || /\n\s+at /.test(ended.stderr))
        wrong.push(`${what}: ${ended.status} ${ended.signal} ${ended.stderr}`);
      const changed = victim.changed();
      if (changed !== null) wrong.push(`${what}: ${changed}`);
    };
    const waiting = attacks.entries();
    const worker = async (): Promise<void> => {
      for (const [i, each] of waiting) await attack(each, i);
    };
    await Promise.all([worker(), worker()]);
    assert.deepEqual(wrong, []);
    t.diagnostic(`${attacks.length} attacks`);
  },
);

test('a FIFO, a device or a folder in the place of a trace or a snapshot is refused in a sentence', async t => {
  const place = new Place(t);
  const victim = new Victim(place.path('victim'));
  for (const kind of ['fifo', 'folder', 'sparse', ...(root ? ['device'] : [])])
    for (const name of ['x.gputrace', 'x.pickle']) {
      plant(kind, place.path(name), victim.file);
      const ended = await ends(place, ['report', name]);
      assert.equal(ended?.status, 1, `${kind} ${name}`);
      assert.match(ended.stderr, /^gpu-memtrace: [^\n]+\.\n$/);
    }
});

test('links that lead to themselves are no trace and no summary, and what else is in the folder is read', async t => {
  const place = new Place(t);
  mkdirSync(place.path('job/traces'), { recursive: true });
  mkdirSync(place.path('job/run=1/rank=0'), { recursive: true });
  for (const name of ['x.gputrace', 'job/traces/x.gputrace', 'job/run=1/rank=0/summary.1.json'])
    symlinkSync(place.path(name), place.path(name));
  for (const name of ['x.gputrace', 'job']) {
    const { status, stderr } = await place.run(['report', name]);
    assert.equal(status, 1);
    assert.match(stderr, /^gpu-memtrace: [^\n]*x\.gputrace [^\n]+\.\n$/);
  }
});

test('opening a folder of another person wakes no recorder: it is not deleted, and nothing is written where it says', async t => {
  const place = new Place(t);
  const { directory } = await live(place);
  const victim = new Victim(place.path('victim'));
  const planted = [
    copyOf(directory, place.path('trace-planted')), // longer than any that is made
    copyOf(directory, place.path('repository/run.gputrace')),
    copyOf(directory, place.path('job/traces/rank.gputrace')),
  ];
  for (const path of planted) {
    writeFileSync(join(path, 'at-end'), victim.file);
    writeFileSync(join(path, 'copies'), `1 ${victim.file}`);
    writeFileSync(`${path}.end`, victim.file);
    // The job is over, as far as the folder says.
    for (const name of readdirSync(path).filter(each => each.endsWith('.gmtlog')))
      renameSync(join(path, name), join(path, '1-1.gmtlog'));
  }
  for (const path of [planted[0] ?? '', 'repository/run.gputrace', 'job']) {
    const ended = await ends(place, ['report', path]);
    assert.ok(ended !== null && [0, 1].includes(ended.status ?? -1), ended?.stderr);
  }
  assert.deepEqual(
    recorders().filter(each => planted.some(path => each.includes(basename(path)))),
    [],
  );
  assert.ok(planted.every(existsSync));
  assert.equal(victim.changed(), null);
});

test('a relative path wakes the recorder of the own trace by its absolute one', async t => {
  const place = new Place(t);
  const { directory, launcher } = await live(place);
  const own = (): string | undefined => recorders().find(each => each.endsWith(` ${directory}`));
  await until(() => own() !== undefined);
  kill(launcher); // who would start it again
  kill(Number(own()?.split(' ')[0]));
  await until(() => own() === undefined);
  const ended = await ends(place, ['report', `run/gpu-memory-trace/${basename(directory)}`]);
  assert.equal(ended?.status, 0, ended?.stderr);
  await until(() => own() !== undefined);
  const woken = Number(own()?.split(' ')[0]);
  place.atEnd(() => kill(woken));
});

test('a trace that another user planted where ours are is none: a PID does not lead to it', { skip }, async t => {
  const place = new Place(t);
  const { directory, pid } = await live(place);
  const victim = new Victim(place.path('victim'));
  const above = place.path(`tmp/gpu-memory-trace-${process.getuid?.()}`);
  mkdirSync(above, { recursive: true });
  const planted = copyOf(directory, join(above, 'trace-x'));
  symlinkSync(victim.file, join(planted, 'session.json.part'));
  for (const path of [above, planted]) chmodSync(path, 0o777);
  const env = { TMPDIR: place.path('tmp'), XDG_RUNTIME_DIR: place.path('none') };
  for (const owners of [
    [NOBODY, NOBODY],
    [0, NOBODY],
    [0, 0],
  ]) {
    [above, planted].forEach((path, i) => chownSync(path, owners[i] ?? 0, 0));
    const ended = await ends(place, ['mark', String(pid), 'here'], env);
    assert.equal(ended?.status, 1);
    assert.match(ended.stderr, new RegExp(`^gpu-memtrace: Process ${pid} is not [^\\n]*\\.\\n$`));
  }
  assert.equal(victim.changed(), null);
  assert.doesNotMatch(readFileSync(join(planted, 'session.json'), 'utf8'), /here/);
});

test(
  'root writes into the directory of another user through no link, and what it writes is that user’s',
  { skip },
  async t => {
    const place = new Place(t);
    const { directory } = await live(place);
    const victim = new Victim(place.path('victim'));
    const theirs = copyOf(directory, place.path('trace-planted'));
    symlinkSync(victim.file, join(theirs, 'session.json.part'));
    chownSync(theirs, NOBODY, NOBODY);
    const ended = await ends(place, ['mark', theirs, 'here']);
    assert.equal(ended?.status, 0, ended?.stderr);
    assert.match(readFileSync(join(theirs, 'session.json'), 'utf8'), /here/);
    assert.equal(statSync(join(theirs, 'session.json')).uid, NOBODY);
    assert.equal(victim.changed(), null);
  },
);
