// A folder that is no trace lists its traces, and a report begins with what it is of.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { DRIVER_SCRIPT, LEAKY_STEPS, Place, python } from './launcher';
import { sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

interface Listing {
  version: number;
  traces: { name: string; command?: string[]; events?: number; verdict?: { state: string }; error?: string }[];
}

async function traced(place: Place, name: string, body: string, ...words: string[]): Promise<string> {
  const script = place.write(`${name}.py`, DRIVER_SCRIPT + body);
  await place.trace([python, script, ...words]);
  copyFileSync(place.path('t.gputrace'), place.path('traces', `${name}.gputrace`));
  return place.path('traces', `${name}.gputrace`);
}

test('the traces of a folder, newest first; links and other files are left out', async t => {
  const place = new Place(t);
  mkdirSync(place.path('traces'));
  mkdirSync(place.path('traces/other'));
  const old = await traced(place, 'old', 'for i in range(40): free(alloc(4096))\n');
  const leaky = await traced(place, 'leaky', LEAKY_STEPS, '--lr', '0.1');
  utimesSync(old, 1_000, 1_000);
  place.write('traces/notes.txt', '');
  place.write('traces/bad\u001b[31m\n.gputrace', 'This is no trace.');
  symlinkSync(leaky, place.path('traces/link.gputrace'));
  symlinkSync(place.folder, place.path('traces/folder'));
  const { status, stdout, stderr } = await place.run(['report', 'traces']);
  assert.deepEqual([status, stderr], [0, '']);
  const [first = '', second = '', third = '', ...more] = stdout.trimEnd().split('\n');
  assert.match(first, /^leaky\.gputrace .+T.+ [\d,]+ events .*leaky\.py --lr 0\.1$/);
  assert.match(second, /^old\.gputrace .*old\.py$/);
  assert.match(third, /^traces\/bad\\x1b\[31m\\x0a\.gputrace /);
  assert.deepEqual(more, []);
  const json = await place.run(['report', 'traces', '--format', 'json']);
  const { version, traces } = JSON.parse(json.stdout) as Listing;
  assert.equal(version, 1);
  const [bad] = traces.filter(({ error }) => error !== undefined);
  assert.equal(bad?.name, 'bad\u001b[31m\n.gputrace');
  const [one, two] = traces.filter(({ error }) => error === undefined);
  assert.deepEqual([one?.name, two?.name], ['leaky.gputrace', 'old.gputrace']);
  assert.deepEqual(one?.command?.slice(-2), ['--lr', '0.1']);
  assert.ok((one?.events ?? 0) > 80);
});

test('a folder without a trace, and options that are for one trace', async t => {
  const place = new Place(t);
  mkdirSync(place.path('empty'));
  for (const [words, expected] of [
    [[], 1],
    [['--at', 'peak'], 2],
    [['--format', 'csv'], 2],
    [['--run', 'x'], 2],
  ] as [string[], number][]) {
    const { status, stdout, stderr } = await place.run(['report', 'empty', ...words]);
    assert.deepEqual([status, stdout], [expected, ''], words.join(' '));
    assertSentence(stderr);
  }
});

test('a report names its trace, the program, when, for how long and where', async t => {
  const place = new Place(t);
  mkdirSync(place.path('traces'));
  const file = await traced(place, 'job', 'alloc(4096)\n', '--name', 'x'.repeat(200));
  const { stdout } = await place.run(['report', file, '--at', '100%']);
  const [name = '', facts = '', moment = ''] = stdout.split('\n');
  assert.ok(name.startsWith(`${file}: `) && name.endsWith('…') && name.length === 160, name);
  assert.match(facts, /^Recorded \d{4}-\d\d-\d\dT\S+ for [\d.]+ m?s on gpu_0 \(.+\)$/);
  assert.match(moment, /^AT /);
  const earlier = await place.run(['report', file, '--at', '50%']);
  assert.equal(earlier.stdout.split('\n')[1], facts, 'the run was as long, whatever moment is shown');
});
