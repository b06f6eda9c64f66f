// A traced program that calls its files, functions and threads by names a terminal would obey.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DRIVER_SCRIPT, Place, python } from './launcher';

const JOB = `${DRIVER_SCRIPT}
EVIL = "\\x1b[2J\\x1b]0;owned\\x07\\nTOTAL LIVE: 0 B\\n\\x9b\\u202e"
ctypes.CDLL(None).prctl(15, b"\\x1b[2J\\nTOTAL LIVE", 0, 0, 0)
source = "def step():\\n  check(cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(8 << 20)))\\n"
exec(compile(source, "/tmp/" + EVIL + ".py", "exec"))
code = step.__code__
step.__code__ = code.replace(**{name: EVIL for name in ("co_name", "co_qualname") if hasattr(code, name)})
step()
`;
const COMMANDS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

function assertInert(text: string): void {
  for (const line of text.split(/\r?\n/)) {
    assert.doesNotMatch(line, COMMANDS);
    assert.doesNotMatch(line, /^TOTAL LIVE: 0 B/);
  }
}

test('names of a traced program are shown and do nothing', async t => {
  const place = new Place(t);
  const file = place.path('t.gputrace');
  const job = place.write('job.py', JOB);
  const ran = await place.run(['run', '--simulate-gpu', '-o', file, '--', python, job]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stderr, /\\x1b\[2J\\x1b\]0;owned\\x07\\x0aTOTAL LIVE/);
  assertInert(ran.stderr);
  for (const words of [[], ['--compare', `${file}@0`], ['--format', 'csv']]) {
    const { status, stdout, stderr } = await place.run(['report', file, ...words]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /owned/);
    assertInert(stdout);
  }
  const { stdout } = await place.run(['report', file, '--format', 'json']);
  assertInert(stdout);
  const { sites } = JSON.parse(stdout) as { sites: { frames: { function: string }[] }[] };
  assert.equal(
    sites[0]?.frames.find(frame => frame.function.includes('owned'))?.function,
    '\x1b[2J\x1b]0;owned\x07\nTOTAL LIVE: 0 B\n\x9b\u202e',
  );
  const missing = await place.run(['report', 'no\x1b[2J\nsuch.gputrace']);
  assert.equal(missing.status, 1);
  assertInert(missing.stderr);
});
