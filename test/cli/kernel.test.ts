// `gpu-memtrace kernel` without Jupyter: what is listed, and what is refused before anything is written.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Place, python, type Ended } from './launcher';
import { sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const FIELDS = { argv: ['python', '-m', 'ipykernel_launcher', '-f', '{connection_file}'], language: 'python' };

/** A place with the kernels `python3` and `mine`, which only the command line finds. */
function withKernels(place: Place): (...words: string[]) => Promise<Ended> {
  for (const [name, shown] of Object.entries({ python3: 'Python 3 (ipykernel)', mine: 'Mine' })) {
    mkdirSync(place.path('data/kernels', name), { recursive: true });
    place.write(`data/kernels/${name}/kernel.json`, JSON.stringify({ ...FIELDS, display_name: shown }));
  }
  const env = { HOME: place.folder, XDG_DATA_HOME: '', JUPYTER_DATA_DIR: '', JUPYTER_PATH: place.path('data') };
  return (...words) => place.run(['kernel', ...words], env);
}

test('the kernels that Jupyter would find are listed: which of them are recorded, and where they are', async t => {
  const place = new Place(t);
  const kernel = withKernels(place);
  assert.equal((await kernel('install', '--kernel', 'mine', '--name', 'seen')).status, 0);
  const { status, stdout } = await kernel('list');
  assert.equal(status, 0);
  const rows = stdout.split('\n').filter(row => row.includes(place.folder));
  assert.deepEqual(
    rows.map(row => row.replace(`${place.path('data/kernels')}/`, '').split(/ {2,}/)),
    [
      ['mine', 'Mine', 'mine'],
      ['python3', 'Python 3 (ipykernel)', 'python3'],
      ['seen', 'Mine (GPU Memory Trace), recorded', 'seen'],
    ],
  );
  assert.equal((await kernel('list', '--name', 'mine')).status, 2);
});

test('a kernel that is not ours is not hidden by ours, wherever that is written', async t => {
  const place = new Place(t);
  const kernel = withKernels(place);
  for (const where of [[], ['--user'], ['--prefix', place.path('env')]]) {
    const { status, stderr } = await kernel('install', '--kernel', 'mine', '--name', 'python3', ...where);
    assertSentence(stderr);
    assert.equal(status, 1);
  }
  assert.deepEqual(readdirSync(place.path('data/kernels')), ['mine', 'python3']);
  assert.ok(!existsSync(place.path('env')) && !existsSync(place.path('.local')));
});

test('a place is named once, and one that cannot be written is told', async t => {
  const place = new Place(t);
  const kernel = withKernels(place);
  for (const words of [
    ['--user', '--prefix', place.path('env')],
    ['--prefix', place.path('env'), '--user'],
  ]) {
    const both = await kernel('install', ...words);
    assert.equal(both.status, 2);
    assertSentence(both.stderr);
  }
  const nowhere = await kernel('install', '--prefix', '/proc/nope');
  assert.equal(nowhere.status, 1);
  assertSentence(nowhere.stderr);
  assert.equal((await kernel('install', '--prefix', place.path('env'))).status, 0);
  const made = place.path('env/share/jupyter/kernels/python3-gpu-memtrace');
  assert.ok(existsSync(`${made}/kernel.json`));
  assert.equal(statSync(dirname(made)).mode & 0o055, 0o055, 'others may use it too');
});

test('a program that is no Python is told from a Python without ipykernel', async t => {
  const place = new Place(t);
  const kernel = withKernels(place);
  for (const program of ['/bin/ls', '/bin/echo', '/nowhere']) {
    const { status, stderr } = await kernel('install', '--python', program);
    assert.equal(status, 1);
    assertSentence(stderr);
  }
  const bare = place.write('bare', `#!/bin/sh\nexec ${python} -I -S "$@"\n`);
  chmodSync(bare, 0o755);
  const { stderr } = await kernel('install', '--python', bare);
  assertSentence(stderr);
});
