// A file is found by its name alone, and a room is taken in at one look.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(__dirname, '../../../..');
const MOST = 30;
/** What tools and the house look for by this name in each folder. */
const FIXED =
  /^(index\..+|README\.md|CMakeLists\.txt|tests\.cmake|(tsconfig|package|package-lock|sentences)\.json|__init__\.py)$/;
/** Folders of data: a file there is one case of many, and is named after that. */
const DATA = [
  'media/sample', // a recorded trace, with the script that it names
  'test/fuzz/corpus', // inputs of the fuzz tests, by what they reach
  'test/golden/leaks', // stored traces, by the programs that they were recorded of
  'test/workloads/corpus', // programs as users write them, each of which is judged as a whole
  'test/workloads/leaks',
  'test/workloads/unseen',
];

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
  cwd: root,
  encoding: 'utf8',
});
const files = listed.split('\n').filter(file => file !== '' && existsSync(join(root, file)));
const isData = (file: string): boolean => DATA.some(folder => file.startsWith(`${folder}/`));

function groupsOf(all: readonly string[], keyOf: (file: string) => string): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const file of all) groups.set(keyOf(file), [...(groups.get(keyOf(file)) ?? []), file]);
  return [...groups];
}

/** Names that several files have, with their folders. */
function equalNames(all: readonly string[]): string[] {
  const named = all.filter(file => !isData(file) && !FIXED.test(basename(file)));
  const equal = groupsOf(named, file => basename(file)).filter(([, same]) => same.length > 1);
  return equal.map(([name, same]) => `${name}: ${same.map(file => dirname(file)).join(', ')}`);
}

/** Folders with more files than are taken in at one look, and how many these are. */
function fullFolders(all: readonly string[]): string[] {
  const rooms = groupsOf(
    all.filter(file => !isData(file)),
    file => dirname(file),
  );
  return rooms.filter(([, inside]) => inside.length > MOST).map(([folder, inside]) => `${folder}: ${inside.length}`);
}

test('no two files have one name', () => {
  assert.deepEqual(equalNames(files), []);
  const second = [...files, 'test/cli/rooms.test.ts', 'test/cli/README.md', 'test/workloads/leaks/gpu.py'];
  assert.deepEqual(equalNames(second), ['rooms.test.ts: test/unit/project, test/cli']);
});

test(`no folder has more than ${MOST} files`, () => {
  assert.deepEqual(fullFolders(files), []);
  const more = Array.from({ length: MOST }, (_, i) => [`test/unit/project/${i}.ts`, `test/fuzz/corpus/${i}.ts`]);
  assert.match(String(fullFolders([...files, ...more.flat()])), /^test\/unit\/project: \d+$/);
});

test('every folder of data is there', () => {
  for (const folder of DATA)
    assert.ok(
      files.some(file => file.startsWith(`${folder}/`)),
      folder,
    );
});
