// The lint stage's check of C++ includes: a circle is reported with its files, a tree is not.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const script = resolve(__dirname, '../../../../test/project/includeCircles.mjs');

/** Ends with what, and says what, on a folder of files with these includes. */
function check(includes: Record<string, string[]>): { status: number | null; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-includes-'));
  mkdirSync(join(folder, 'room'));
  for (const [file, names] of Object.entries(includes))
    writeFileSync(join(folder, file), names.map(name => `#include "${name}"\n`).join(''));
  const { status, stdout } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return { status, output: stdout };
}

test('a circle over rooms is reported with its files', () => {
  const { status, output } = check({ 'a.h': ['room/b.h'], 'room/b.h': ['c.h'], 'room/c.h': ['a.h'], 'd.cpp': ['a.h'] });
  assert.equal(status, 1);
  assert.match(output, /^Circle: \S*a\.h -> \S*b\.h -> \S*c\.h -> \S*a\.h\n$/);
});

test('a file that two others include is no circle', () => {
  const { status, output } = check({
    'a.h': ['room/b.h', 'room/c.h'],
    'room/b.h': ['c.h'],
    'room/c.h': [],
    'd.cpp': ['a.h'],
  });
  assert.deepEqual([status, output], [0, '']);
});
