// Sentences that tests keep: what is compared, what an update writes, and what goes with a test that is gone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';

const kept = pathToFileURL(resolve(__dirname, '../../../../test/keptSentences.mjs')).href;

/** A repository with one room; `run` runs tests of its file `a.test.mjs`: a name and its sentences each, or null for one that is left. */
function room(t: TestContext, room = 'test/unit/room') {
  const folder = mkdtempSync(join(tmpdir(), 'kept-sentences-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'package.json'), '{}');
  mkdirSync(join(folder, room), { recursive: true });
  const file = join(folder, room, 'sentences.json');
  const write = (stored: object): void => writeFileSync(file, JSON.stringify(stored));
  const run = (tests: Record<string, string[] | null>, update = false): string => {
    const source = join(folder, room, 'a.test.mjs');
    const script = `import { keptSentences } from ${JSON.stringify(kept)};
const { test, assertSentence } = keptSentences(${JSON.stringify(source)}, (name, body) => body());
for (const [name, texts] of Object.entries(${JSON.stringify(tests)}))
  if (texts === null) test.left(name);
  else await test(name, () => texts.forEach(text => assertSentence(text)));
`;
    writeFileSync(source, script);
    const env = { ...process.env, UPDATE_GOLDEN: update ? '1' : undefined };
    return spawnSync(process.execPath, [source], { encoding: 'utf8', env }).stderr;
  };
  const stored = (): unknown => JSON.parse(readFileSync(file, 'utf8'));
  return { folder, write, run, stored };
}

test('another sentence, one too many and one too few are told; equal ones pass', t => {
  const { write, run } = room(t);
  write({ 'a: x': ['One.', 'Two.'] });
  assert.equal(run({ x: ['One.', 'Two.'] }), '');
  for (const wrong of [['One.', '2.'], ['One.'], ['One.', 'Two.', 'Three.'], []])
    assert.match(run({ x: wrong }), /a: x/);
});

test('an update writes what is met; tests that are left keep theirs, those that are gone do not, nor files that are', t => {
  const { folder, write, run, stored } = room(t);
  writeFileSync(join(folder, 'test/unit/room/b.test.ts'), 'assertSentence');
  write({ 'a: gone': ['0'], 'a: left': ['1'], 'a: x': ['2'], 'b: y': ['3'], 'c: z': ['4'] });
  assert.equal(run({ left: null, x: ['2, now'] }, true), '');
  assert.deepEqual(stored(), { 'a: left': ['1'], 'a: x': ['2, now'], 'b: y': ['3'] });
});

test('what differs from run to run is one word, where programs run', t => {
  const text = 'Process 4711 took 12.5 ms, 3.1% of 20 MiB, at 2026-01-02T03:04:05Z.';
  for (const [name, expected] of [
    ['test/unit/room', 'Process 4711 took 12.5 ms, 3.1% of 20 MiB, at T.'],
    ['test/cli', 'Process N took T, N% of 20 MiB, at T.'],
  ] as const) {
    const { run, stored } = room(t, name);
    assert.equal(run({ x: [text] }, true), '');
    assert.deepEqual(stored(), { 'a: x': [expected] });
  }
});
