// A file is found by its name alone, and a room is taken in at one look.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(__dirname, '../../../..');
const MOST = 30;
const files = ['extension', 'webview'].flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => ({ folder: relative(root, entry.parentPath), name: entry.name })),
);

function groupsOf<T>(values: readonly T[], keyOf: (value: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return [...groups];
}

test('no two files of the extension and the pages have one name', () => {
  const code = files.filter(({ name }) => name.endsWith('.ts') && basename(name, '.ts') !== 'index');
  const equal = groupsOf(code, ({ name }) => name).filter(([, same]) => same.length > 1);
  const told = equal.map(([name, same]) => `${name}: ${same.map(({ folder }) => folder).join(', ')}`);
  assert.deepEqual(told, []);
});

test(`no folder has more than ${MOST} files`, () => {
  const full = groupsOf(files, ({ folder }) => folder).filter(([, inside]) => inside.length > MOST);
  assert.deepEqual(
    full.map(([folder, inside]) => `${folder}: ${inside.length}`),
    [],
  );
});
