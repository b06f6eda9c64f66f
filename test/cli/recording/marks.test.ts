// Marks of a running program, and two moments beside each other.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { driverScript, FIRST } from '../../workloads/driverScript.mjs';
import { Place, python } from '../launcher';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const JOB = driverScript(`allocate(ctypes.byref(address), ctypes.c_size_t(8 << 20))
open(sys.argv[1] + ".pid", "w").write(str(os.getpid()))
print("READY", flush=True)
while not os.path.exists(sys.argv[1]): time.sleep(0.02)
allocate(ctypes.byref(address), ctypes.c_size_t(4 << 20))
`);
const LAST = FIRST + 4;

test('a mark is taken from beside, kept in the trace, and compared with', async t => {
  const place = new Place(t);
  const script = place.write('job.py', JOB);
  const go = place.path('go');
  const file = place.path('run.gputrace');
  const job = place.start(['run', '--simulate-gpu', '--format', 'none', '-o', file, '--', python, script, go]);
  await job.printedText('READY');
  const pid = readFileSync(`${go}.pid`, 'utf8');
  const marked = await place.run(['mark', pid, 'before eval']);
  assert.equal(marked.status, 0, marked.stderr);
  assertSentence(marked.stdout);
  writeFileSync(go, '');
  assert.equal((await job.ended).status, 0);

  const at = await place.run(['report', file, '--at', 'mark:before eval', '--format', 'json']);
  const { totals } = JSON.parse(at.stdout) as { totals: { liveBytes: number }[] };
  assert.equal(totals[0]?.liveBytes, 8 << 20);

  const compared = await place.run(['report', file, '--compare', `${file}@mark:before eval`]);
  assert.match(compared.stdout, /8 MiB -> 12 MiB \(\+4 MiB\), 1 new, 0 gone/);
  assert.match(compared.stdout, /\+4 MiB +- +4 MiB new +job\.py:13 <module>/);
  assert.doesNotMatch(compared.stdout, /job\.py:9/);
  const json = await place.run(['report', file, '--at', 'mark:before eval', '--compare', file, '--format', 'json']);
  assert.deepEqual(
    (JSON.parse(json.stdout) as { rows: { line: number; bytesA: number; bytesB: number }[] }).rows.map(
      ({ line, bytesA, bytesB }) => [line, bytesA, bytesB],
    ),
    [
      [LAST, 4 << 20, 0],
      [FIRST, 8 << 20, 8 << 20],
    ],
  );

  const unknown = await place.run(['report', file, '--at', 'mark:warm-up']);
  assert.equal(unknown.status, 2);
  assertSentence(unknown.stderr);
});

test('what cannot be marked or compared is said in a sentence', async t => {
  const place = new Place(t);
  for (const [words, status] of [
    [['mark', String(process.pid), 'a'], 1],
    [['mark', place.path('none'), 'a'], 1],
    [['mark', '5'], 2],
    [['report', 'a.gputrace', '--compare', 'b.gputrace@noon'], 2],
    [['report', 'a.gputrace', '--compare', 'b.gputrace', '--format', 'csv'], 2],
  ] as const) {
    const ended = await place.run([...words]);
    assert.equal(ended.status, status, words.join(' '));
    assertSentence(ended.stderr);
  }
});
