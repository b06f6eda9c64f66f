// `attach` and `run --backend uprobe` with a stand-in for the privileged tracer: every way it can answer and end.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { LONG } from '../../long.mjs';
import { kinds, LogFile } from '../../unit/addon/logFile';
import { ended, READY, refusal, writeFakeTracer, type Seen, type Step } from '../../unit/fakeTracer';
import { DRIVER_SCRIPT, Place, SIMULATED, hangs, python, sleeps, until, type Report } from '../launcher';
import { onTerminal } from '../terminalScreen';
import { linesOf, sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const ours = (stderr: string): string[] => stderr.split('\n').filter(line => line.startsWith('gpu-memtrace: '));

interface Stage {
  place: Place;
  seen(): Seen;
}

function stage(t: TestContext, steps: Step[] | null): Stage {
  const place = new Place(t);
  const program = place.withTracer();
  if (steps !== null) writeFakeTracer(program, steps);
  return { place, seen: () => JSON.parse(readFileSync(`${program}.seen`, 'utf8')) as Seen };
}

/** A program that has loaded the driver and waits; what a test may attach to. */
async function target(t: TestContext, place: Place): Promise<ChildProcess & { pid: number }> {
  const script = place.write('job.py', `${DRIVER_SCRIPT}print("ready", flush=True)\ntime.sleep(600)\n`);
  const child = spawn(python, [script], {
    env: { ...process.env, LD_LIBRARY_PATH: SIMULATED.LD_LIBRARY_PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await new Promise(done => child.stdout.once('data', done));
  return child as typeof child & { pid: number };
}

/** A log as the tracer writes it: blocks of 20 MB on one line. */
function makeLog(place: Place, blocks = 1): Step {
  const log = new LogFile(place.folder);
  log.process([python, 'job.py']);
  log.thread(0, 5_000_001, 'python');
  log.device(0, 'Fake', BigInt(1024 * MB));
  const stack = log.stack([{ file: '/job.py', line: 7, function: 'f' }]);
  for (let block = 0; block < blocks; block++)
    log.event(kinds.deviceAlloc, 0x7f0000000000n + BigInt(block * 20 * MB), 20 * MB, stack);
  log.end();
  log.close();
  return { log: log.path };
}

const alive = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
const traces = (place: Place): string[] =>
  existsSync(place.path('run/gpu-memory-trace')) ? readdirSync(place.path('run/gpu-memory-trace')) : [];
const traceOf = (place: Place): string => place.path('run/gpu-memory-trace', traces(place)[0] ?? '');

/** It has read that the tracer is ready once it sleeps again: a signal before that gives the attach up. */
const attached = (place: Place, pid: number | undefined): Promise<void> =>
  until(() => existsSync(place.path('logged')) && sleeps(pid));

test('Ctrl+C detaches: last table, report and trace, status 0, and the program goes on', async t => {
  const { place, seen } = stage(t, null);
  const program = join(place.folder, 'dist/native/gpu-memtrace-uprobe');
  writeFakeTracer(program, [READY, makeLog(place), { mark: place.path('logged') }, 'detach', ended(1, 0)]);
  const job = await target(t, place);
  const words = [
    'attach',
    String(job.pid),
    '-o',
    't.gputrace',
    '--report',
    'r.json',
    '--interval',
    '100ms',
    '--native-stacks',
  ];
  const started = place.start(words);
  await attached(place, started.pid);
  process.kill(started.pid, 'SIGINT');
  const { status, stdout, stderr } = await started.ended;
  assert.equal(status, 0, stderr);
  assert.equal(stdout, '');
  assert.ok(alive(job));
  assertSentence(linesOf(stderr, /^gpu-memtrace: /));
  assert.match(stderr, /TOTAL LIVE: 20 MiB/);
  const report = place.readJson<Report & { command: string[] }>('r.json');
  assert.equal(report.totals[0]?.liveBytes, 20 * MB);
  assert.deepEqual(report.command.slice(1), [place.path('job.py')]);
  assert.ok(existsSync(place.path('t.gputrace')));
  assert.deepEqual(traces(place), []);
  assert.deepEqual(seen().words.slice(0, 4), ['attach', '--pid', String(job.pid), '--directory']);
  assert.deepEqual(seen().words.slice(5, 7), ['--children', '--budget-bytes']);
  assert.deepEqual(seen().words.slice(8), ['--native-stacks']);
});

test('on a terminal all of it is the view’s; q detaches, the end stays, and the program goes on', async t => {
  const { place } = stage(t, null);
  writeFakeTracer(place.path('dist/native/gpu-memtrace-uprobe'), [READY, makeLog(place), 'detach', ended(1, 0)]);
  const job = await target(t, place);
  const seen = onTerminal(place, [24, 80], ['attach', String(job.pid), '--interval', '100ms']);
  const screen = await seen.shows(/20 MiB in 1 +not judged +job\.py:7 f$/m);
  assert.match(screen, new RegExp(`^.* · process ${job.pid} \\(python3 job\\.py\\) · .*\ngpu_0 \\[`));
  assert.match(screen, /q quit$/);
  seen.type('q');
  assert.equal(await seen.ended(), 0);
  assert.match(seen.screen(), /^TOTAL LIVE: 20 MiB$/m);
  assert.ok(alive(job));
});

test('under sudo the results belong to who asked for them', async t => {
  if (process.getuid?.() !== 0) return t.skip('only root can be under sudo');
  const { place } = stage(t, null);
  writeFakeTracer(place.path('dist/native/gpu-memtrace-uprobe'), [READY, makeLog(place), ended(1, 0)]);
  const job = await target(t, place);
  const words = ['attach', String(job.pid), '-o', 't.gputrace', '--report', 'r.json'];
  const { status } = await place.run(words, { SUDO_UID: '4242', SUDO_GID: '4243' });
  assert.equal(status, 0);
  for (const name of ['t.gputrace', 'r.json']) {
    const { uid, gid } = statSync(place.path(name));
    assert.deepEqual([uid, gid], [4242, 4243]);
  }
});

test('SIGTERM and SIGHUP detach as well; a second signal does not wait', async t => {
  const { place } = stage(t, [READY, 'detach', ended(0, 0)]);
  const job = await target(t, place);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    const started = place.start(['attach', String(job.pid)]);
    await started.printedText('Attached');
    process.kill(started.pid, signal);
    assert.equal((await started.ended).status, 0);
  }
  writeFakeTracer(place.path('dist/native/gpu-memtrace-uprobe'), [
    READY,
    'detach',
    { mark: place.path('asked') },
    'hang',
  ]);
  const started = place.start(['attach', String(job.pid)]);
  await started.printedText('Attached');
  process.kill(started.pid, 'SIGINT');
  await until(() => existsSync(place.path('asked')));
  process.kill(started.pid, 'SIGINT');
  assert.equal((await started.ended).status, 0);
  assert.ok(alive(job));
});

test('a signal that comes after the detach ends what is left to do; the trace stays, and that is said', async t => {
  const { place } = stage(t, null);
  const program = place.path('dist/native/gpu-memtrace-uprobe');
  writeFakeTracer(program, [READY, makeLog(place, 5000), { mark: place.path('logged') }, 'detach', ended(1, 0)]);
  const job = await target(t, place);
  const { child, ended: end, text } = place.startUnread(['attach', String(job.pid), '--format', 'json'], 'stdout');
  await attached(place, child.pid);
  child.kill('SIGINT');
  await until(() => hangs(child.pid));
  child.kill('SIGTERM');
  assert.equal(await end, 143);
  assert.ok(text().endsWith(`\n${traceOf(place)}\n`), text());
  assertSentence(linesOf(text(), /It remains/));
  assert.ok(alive(job));
});

test('the end of the program ends it with status 0', async t => {
  const { place } = stage(t, [READY, 'end', ended(0, 0)]);
  const job = await target(t, place);
  const started = place.start(['attach', String(job.pid), '--report', 'r.json', '-o', 't.gputrace']);
  await started.printedText('Attached');
  job.kill('SIGKILL');
  const { status, stdout, stderr } = await started.ended;
  assert.deepEqual([status, stdout], [0, ''], stderr);
  assert.deepEqual(place.readJson<Report>('r.json').allocations, []);
  assertSentence(linesOf(stderr, /^(gpu-memtrace: |No)/));
});

test('--format json prints one document and nothing else', async t => {
  const { place } = stage(t, null);
  writeFakeTracer(place.path('dist/native/gpu-memtrace-uprobe'), [READY, makeLog(place), ended(1, 0)]);
  const job = await target(t, place);
  const { status, stdout, stderr } = await place.run([
    'attach',
    String(job.pid),
    '--format',
    'json',
    '-o',
    't.gputrace',
  ]);
  assert.equal(status, 0, stderr);
  assert.equal((JSON.parse(stdout) as Report).totals[0]?.liveBytes, 20 * MB);
  assert.equal(ours(stderr).length, 1);
  assertSentence(stderr);
});

test('what the tracer refuses is one sentence and 125, and nothing is left', async t => {
  const { place } = stage(t, null);
  const program = place.path('dist/native/gpu-memtrace-uprobe');
  const job = await target(t, place);
  const codes = ['no-process', 'not-yours', 'no-libcuda', 'ended', 'no-btf', 'no-bpf', 'bad-arguments', 'directory'];
  for (const code of codes.slice(LONG ? 0 : -2)) {
    writeFakeTracer(program, refusal(code, `This is why: ${code}.`));
    const { status, stdout, stderr } = await place.run(['attach', String(job.pid)]);
    assert.equal(status, 125);
    assert.equal(stdout, '');
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
    assert.ok(stderr.startsWith(`gpu-memtrace: This is why: ${code}`), stderr);
    assert.deepEqual(traces(place), []);
  }
  assert.ok(alive(job));
});

test('missing rights: a sentence, and the line to type where there is one', async t => {
  const { place } = stage(t, refusal('no-privilege', 'Operation not permitted.'));
  const job = await target(t, place);
  const { status, stderr } = await place.run(['attach', String(job.pid)]);
  assert.equal(status, 125);
  assert.equal(ours(stderr).length, 1);
  assert.match(stderr, /CAP_.*gpu-memtrace run/);
  const line = stderr.split('\n').find(text => text.startsWith('  '));
  assert.equal(line === undefined, process.getuid?.() === 0, 'root is told no line: it has what can be had');
  if (line !== undefined)
    assert.match(line, /^ {2}sudo (setcap cap_bpf,cap_perfmon\+ep \S+|\S+ \S+cli\.js attach \d+)$/);
});

test('a tracer that breaks off: what came until then is kept, said, and 125', async t => {
  const { place } = stage(t, null);
  const steps: Step[] = [READY, makeLog(place), { complain: 'killed by a test\n' }, { signal: 'SIGKILL' }];
  writeFakeTracer(place.path('dist/native/gpu-memtrace-uprobe'), steps);
  const job = await target(t, place);
  const { status, stderr } = await place.run(['attach', String(job.pid), '-o', 't.gputrace']);
  assert.equal(status, 125);
  assertSentence(linesOf(stderr, /^gpu-memtrace: /));
  assert.ok(existsSync(place.path('t.gputrace')));
  assert.ok(alive(job));
});

test('events that the tracer lost and the log does not count are said', async t => {
  const { place } = stage(t, null);
  const steps: Step[] = [READY, makeLog(place), { say: { type: 'lost', count: 7, cause: 'ring' } }, ended(1, 7)];
  writeFakeTracer(place.path('dist/native/gpu-memtrace-uprobe'), steps);
  const job = await target(t, place);
  const { stderr } = await place.run(['attach', String(job.pid)]);
  assertSentence(linesOf(stderr, /^gpu-memtrace: /));
});

test('bad processes are named before anything is made', async t => {
  const { place } = stage(t, [READY, 'detach']);
  const cases: [string, number][] = [
    ['x', 2],
    ['4194305', 125],
    [String(process.pid), 125],
  ];
  for (const [pid, expected] of cases) {
    const { status, stderr } = await place.run(['attach', pid]);
    assert.equal(status, expected, stderr);
    assert.equal(ours(stderr).length, 1);
    assertSentence(stderr.replace(/\(.*\) has/, '(node) has'));
  }
  assert.deepEqual(traces(place), []);
});

/** What is refused, and what doctor says of it. */
async function withoutTracer(t: TestContext): Promise<string[]> {
  const { place } = stage(t, null);
  const texts: string[] = [];
  for (const words of [
    ['attach', String(process.pid)], // also where the process is none to attach to
    ['run', '--backend', 'uprobe', '--simulate-gpu', '--', 'true'],
  ]) {
    const { status, stderr } = await place.run(words);
    assert.equal(status, 125);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
    texts.push(stderr);
  }
  const { stdout } = await place.run(['doctor']);
  return [...texts, /^attach\n.*\n.*/m.exec(stdout)?.[0] ?? ''];
}

const isArm64 = process.arch === 'arm64';

test(
  'without a tracer: one sentence, 125; doctor says how to get it',
  { skip: isArm64 && 'on arm64 none can be got' },
  async t => {
    for (const text of await withoutTracer(t)) assertSentence(text);
  },
);

if (isArm64) {
  test('on arm64 it is one sentence that attaching works on x86-64 only', async t => {
    for (const text of await withoutTracer(t)) assert.match(text, /x86-64/);
  });
}

test('run --backend uprobe: probes first, then the program, as if alone', async t => {
  const { place, seen } = stage(t, [READY, 'detach', ended(0, 0)]);
  const given = { 'odd-name%%': '() { x\n}', EMPTY: '' };
  const words = [
    'run',
    '--backend',
    'uprobe',
    '--format',
    'none',
    '--',
    'cat',
    '/proc/self/environ',
    '/proc/self/stat',
  ];
  const { status, stdout, stderr } = await place.run(words, given);
  assert.equal(status, 0, stderr);
  const variables = stdout.split('\0');
  const stat = variables.pop() ?? '';
  const expected = Object.entries({ ...place.env, ...given }).map(([name, value]) => `${name}=${value}`);
  assert.deepEqual(variables.sort(), expected.sort(), 'the environment is unchanged');
  const { words: tracerWords } = seen();
  const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  assert.equal(tracerWords[tracerWords.indexOf('--pid') + 1], parent, 'the program is a child of the traced process');
  assert.ok(tracerWords.includes('--children') && tracerWords.includes('--wait-libraries'));
});

test('run --backend uprobe: the program does not start where probes cannot be placed', async t => {
  const { place } = stage(t, refusal('no-bpf', 'This kernel has no BPF.'));
  const words = ['run', '--backend', 'uprobe', '--simulate-gpu', '--', python, '-c', 'print("ran")'];
  const { status, stdout, stderr } = await place.run(words);
  assert.deepEqual([status, stdout], [125, '']);
  assertSentence(stderr);
  assert.deepEqual(traces(place), []);
});

test('run --backend uprobe: statuses and signals are the program’s own', async t => {
  const { place } = stage(t, [READY, 'detach', ended(0, 0)]);
  const run = ['run', '--backend', 'uprobe', '--simulate-gpu', '--format', 'none', '--'];
  assert.equal((await place.run([...run, 'no-such-program'])).status, 127);
  const script =
    'import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\nprint("ready", flush=True)\ntime.sleep(600)';
  const started = place.start([...run, python, '-c', script]);
  await started.printedText('ready');
  process.kill(started.pid, 'SIGTERM');
  assert.equal((await started.ended).status, 9);
  const libraries = await place.run([
    ...run,
    python,
    '-c',
    'import os; print(os.environ["LD_LIBRARY_PATH"].split(":")[0], "LD_PRELOAD" in os.environ)',
  ]);
  assert.equal(libraries.stdout, `${place.path('build/simulator')} False\n`);
});

test('run --backend uprobe: a tracer that dies changes nothing for the program', async t => {
  const { place } = stage(t, [READY, { signal: 'SIGKILL' }]);
  const words = [
    'run',
    '--backend',
    'uprobe',
    '--simulate-gpu',
    '--format',
    'none',
    '--',
    python,
    '-c',
    'import time; time.sleep(0.5)',
  ];
  const { status, stderr } = await place.run(words);
  assert.equal(status, 0);
  assertSentence(stderr);
});

test('run --backend uprobe: a program that a dead tracer held up goes on', async t => {
  const { place } = stage(t, [READY, 'stop child', { signal: 'SIGKILL' }]);
  const { status } = await place.run([
    'run',
    '--backend',
    'uprobe',
    '--simulate-gpu',
    '--format',
    'none',
    '--',
    'sleep',
    '1',
  ]);
  assert.equal(status, 0);
});

test('doctor tells what the self-test found, as text and as JSON', async t => {
  const { place } = stage(t, null);
  const program = place.path('dist/native/gpu-memtrace-uprobe');
  const all = { bpf: true, btf: true, uprobeMulti: true, perfUprobe: true, privileged: true, message: 'fine' };
  interface Attach {
    attach: { possible: boolean; selfTest: typeof all | null; checks: { name: string; state: string; fix: string }[] };
  }
  const doctor = async (steps: Step[]): Promise<{ text: string; attach: Attach['attach'] }> => {
    writeFakeTracer(program, steps);
    const [text, json] = [await place.run(['doctor']), await place.run(['doctor', '--format', 'json'])];
    return { text: text.stdout, attach: (JSON.parse(json.stdout) as Attach).attach };
  };
  const fine = await doctor([{ say: all }, { exit: 0 }]);
  assert.deepEqual([fine.attach.possible, fine.attach.selfTest], [true, all]);
  assert.match(fine.text, /^ok +probes +uprobe_multi$/m);
  assertSentence(linesOf(fine.text, /for attaching/));
  const poor = { ...all, bpf: false, uprobeMulti: false, perfUprobe: false, privileged: false };
  const refused = await doctor([{ say: poor }, { exit: 1 }]);
  const rights = refused.attach.checks.find(({ name }) => name === 'permissions');
  assert.deepEqual([refused.attach.possible, rights?.state], [false, 'missing']);
  assert.match(rights?.fix ?? '', / CAP_/);
  const old = await doctor([{ say: { ...all, btf: false, uprobeMulti: false } }, { exit: 1 }]);
  const states = Object.fromEntries(old.attach.checks.map(({ name, state }) => [name, state]));
  assert.deepEqual(states, { tracer: 'ok', BPF: 'ok', BTF: 'missing', probes: 'warning', permissions: 'ok' });
  const broken = await doctor([{ complain: 'no such instruction' }, { exit: 1 }]);
  assert.equal(broken.attach.selfTest, null);
  assertSentence(linesOf(broken.text, /no such instruction/));
});
