// Bad input: one clear sentence, the right exit status, and a program that could run still runs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DRIVER_SCRIPT, Place, python, root, type Report } from './launcher';
import { withoutNumbers } from '../masked.mjs';
import { sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const ours = (stderr: string): string[] => stderr.split('\n').filter(line => line.startsWith('gpu-memtrace: '));

async function traced(place: Place): Promise<string> {
  const script = place.write('job.py', `${DRIVER_SCRIPT}for i in range(2000): alloc(4096)\nalloc(${20 * MB})\n`);
  const { status } = await place.trace([python, script]);
  assert.equal(status, 0);
  return place.path('t.gputrace');
}

test('no such script: the interpreter’s own sentence and status', async t => {
  const { status, stderr } = await new Place(t).run([
    'run',
    '--simulate-gpu',
    '--format',
    'none',
    '--',
    python,
    'no.py',
  ]);
  assert.equal(status, 2);
  assert.match(stderr, /no\.py/);
});

test('no GPU: said in one sentence, and the program runs', async t => {
  const words = ['run', '--format', 'none', '--', python, '-c', 'print("ran")'];
  const { status, stdout, stderr } = await new Place(t).run(words, { LD_LIBRARY_PATH: '' });
  if (hasDriver()) return t.skip('this machine has an NVIDIA driver');
  assert.equal(status, 0);
  assert.equal(stdout, 'ran\n');
  assert.equal(ours(stderr).length, 1);
  assertSentence(stderr);
});

test('an installed package has no simulated GPU: one sentence, 125, and not in its help', async t => {
  const place = new Place(t);
  place.installed();
  for (const backend of ['inject', 'uprobe']) {
    const words = ['run', '--simulate-gpu', '--backend', backend, '--', python, '-c', 'print("ran")'];
    const { status, stdout, stderr } = await place.run(words);
    assert.deepEqual([status, stdout], [125, ''], backend);
    assertSentence(stderr);
  }
  assert.doesNotMatch((await place.run(['run', '--help'])).stdout, /simulate/);
  assert.match((await new Place(t).run(['run', '--help'])).stdout, /--simulate-gpu/);
});

function hasDriver(): boolean {
  return execFileSync('sh', ['-c', '(ldconfig -p || /sbin/ldconfig -p) 2>/dev/null || true']).includes('libcuda.so.1');
}

test('a trace that cannot be written is refused before the program starts', async t => {
  const words = ['run', '--simulate-gpu', '-o', '/proc/no/such.gputrace', '--', python, '-c', 'print("ran")'];
  const { status, stdout, stderr } = await new Place(t).run(words);
  assert.equal(status, 125);
  assert.equal(stdout, '');
  assert.equal(ours(stderr).length, 1);
  assert.match(stderr, /\/proc\/no/);
});

test('no folder for the trace can be made: 125 and one sentence', async t => {
  const nowhere = { XDG_RUNTIME_DIR: '/proc/a', XDG_CACHE_HOME: '/proc/b', HOME: '/proc/c', TMPDIR: '/proc/d' };
  const { status, stderr } = await new Place(t).run(['run', '--simulate-gpu', '--', 'true'], nowhere);
  assert.equal(status, 125);
  assert.equal(ours(stderr).length, 1);
});

test('wrong options: status 2 and one sentence', async t => {
  const place = new Place(t);
  for (const words of [['run'], ['nonsense'], ['run', '--interval', 'soon', '--', 'true'], ['report'], []]) {
    const { status, stderr } = await place.run(words);
    assert.equal(status, 2, words.join(' '));
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  }
});

test('each bad input has one sentence and its exit status, and nothing on stdout', async t => {
  const place = new Place(t);
  for (const name of ['folder', 'nojob']) mkdirSync(place.path(name));
  place.write('text.txt', 'This is no trace.');
  const sample = join(root, 'media/sample/finetune.gputrace');
  const inputs: [number, ...string[]][] = [
    [2, 'train.py'],
    [2, 'help', 'reprot'],
    [1, 'report', 'text.txt'],
    [1, 'report', 'text.txt/x'],
    [1, 'report', sample, '-o', 'folder'],
    [1, 'report', sample, '-o', 'none/x.json'],
    [2, 'report', sample, '--at', 'step:999'],
    [2, 'report', sample, '--at', 'mark:none'],
    [2, 'report', sample, '--between', '5s', '1s'],
    [1, 'report', sample, '--compare', 'none.gputrace'],
    [2, 'report', sample, '--run', 'x'],
    [127, 'run', '--simulate-gpu', '--', 'no-such-program'],
    [126, 'run', '--simulate-gpu', '--', './text.txt'],
    [125, 'run', '--simulate-gpu', '-o', 'folder', '--', 'true'],
    [125, 'run', '--simulate-gpu', '--report', 'none/x.json', '--', 'true'],
    [125, 'attach', '999999999'],
    [1, 'holders', 'none'],
    [1, 'holders', sample, '--line', 'none.py:3'],
    [1, 'mark', '999999999', 'x'],
    [1, 'record', sample, 'on'],
    [1, 'kernel', 'install', '--python', 'none/python'],
    [1, 'sql', 'nojob', 'peak_by_rank'],
    [2, 'completion', 'tcsh'],
  ];
  for (const [expected, ...words] of inputs) {
    const { status, stdout, stderr } = await place.run(words);
    assert.deepEqual([status, stdout], [expected, ''], `${words.join(' ')}: ${stderr}`);
    assert.match(stderr, /^gpu-memtrace: [^\n]+[.?]\n$/, words.join(' '));
    assertSentence(stderr);
  }
});

test('report names what is wrong with a file', async t => {
  const place = new Place(t);
  const whole = readFileSync(await traced(place));
  const newer = Buffer.from(whole);
  newer.writeUInt32LE(0xffff, 8); // the version follows the eight bytes of the magic
  const files: [string, Buffer | string][] = [
    ['empty.gputrace', ''],
    ['text.gputrace', 'This is no trace, whatever its name says. '.repeat(500)],
    ['newer.gputrace', newer],
  ];
  for (const [name, content] of files) {
    writeFileSync(place.path(name), content);
    const { status, stdout, stderr } = await place.run(['report', place.path(name)]);
    assert.equal(status, 1, `${name}: ${stdout}`);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
    assertSentence(stderr);
  }
  const { status, stderr } = await place.run(['report', place.path('none.gputrace')]);
  assert.equal(status, 1);
  assertSentence(stderr);
});

test('a trace that was cut short shows what is left and says so, or is refused in one sentence', async t => {
  const place = new Place(t);
  const file = await traced(place);
  const bytes = readFileSync(file).length;
  const sentences = new Set<string>();
  for (const part of [0.9, 0.5, 0.1]) {
    truncateSync(file, Math.floor(bytes * part));
    const { status, stdout, stderr } = await place.run(['report', file, '--format', 'json']);
    if (status === 0) {
      const report = JSON.parse(stdout) as Report;
      sentences.add(withoutNumbers(stderr));
      const lost = report.lost.events > 0 || Object.keys(report.lost.byCause).length > 0;
      assert.ok(lost || report.processes.some(({ notes }) => notes.length > 0), `${part}: nothing says that it is cut`);
    } else {
      assert.equal(status, 1);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    }
  }
  assertSentence([...sentences].join(''));
});

test('what is cut or damaged is said first, with its place; never that nothing was recorded', async t => {
  const place = new Place(t);
  const file = await traced(place);
  const whole = readFileSync(file);
  const begin = whole.indexOf('PACK'); // of the first chunk, behind the log's header
  assert.ok(begin > 4096);
  const damaged = Buffer.from(whole).fill(0xa5, begin + 90, begin + 150);
  const table = async (name: string, content: Buffer): Promise<string[]> => {
    writeFileSync(place.path(name), content);
    const { stdout } = await place.run(['report', place.path(name)]);
    return stdout.slice(stdout.indexOf('-----')).split('\n').slice(2, 4);
  };
  const [cut = '', left] = await table('cut.gputrace', whole.subarray(0, begin + 100));
  const numbersIn = (text: string): number[] => (text.replace(/\S*\.gputrace/, '').match(/\d+/g) ?? []).map(Number);
  assert.deepEqual(numbersIn(cut), [whole.length, begin + 100]);
  assertSentence(withoutNumbers(cut));
  assertSentence(left);
  const [broken = '', none] = await table('damaged.gputrace', damaged);
  assert.deepEqual(numbersIn(broken), [begin]);
  assertSentence(withoutNumbers(broken));
  assert.equal(none, left);
});

/** An interpreter that the tracer cannot read, where one is installed. */
function unsupportedPython(): string | undefined {
  const versions = join(homedir(), '.pyenv/versions');
  const old = existsSync(versions) ? readdirSync(versions).filter(name => /^3\.[678]\./.test(name)) : [];
  return old.map(name => join(versions, name, 'bin/python')).find(path => existsSync(path));
}

test('an unsupported Python: allocations without lines, the range in one sentence, the program unharmed', async t => {
  const old = unsupportedPython();
  if (!old) return t.skip('no Python before 3.9 here');
  const place = new Place(t);
  const script = place.write('job.py', `${DRIVER_SCRIPT}alloc(${20 * MB})\nprint("ran")\nos._exit(5)\n`);
  const { status, stdout, report } = await place.trace([old, script]);
  assert.deepEqual([status, stdout], [5, 'ran\n']);
  assert.equal(report.totals.find(({ layer }) => layer === 'driver')?.liveBytes, 20 * MB);
  const notes = report.processes.flatMap(process => process.notes);
  assert.equal(notes.filter(note => note.includes('Python 3.') && note.includes('3.14')).length, 1);
  assert.equal(report.lost.events, 0);
});
