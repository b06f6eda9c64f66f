// What ships loads on systems with glibc 2.28.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const folder = resolve(__dirname, '../../../../dist/native');
const files = readdirSync(folder, { recursive: true }).map(String);
const libraries = files.filter(name => /\.(node|so[.\d]*)$/.test(name));
const skip = spawnSync('readelf', ['--version']).status === 0 ? false : 'readelf is not installed';

for (const name of libraries) {
  test(`${name} needs no glibc newer than 2.28, and no libstdc++`, { skip }, () => {
    const { stdout } = spawnSync('readelf', ['-W', '--dyn-syms', '-d', join(folder, name)], { encoding: 'utf8' });
    const newer = [...stdout.matchAll(/UND (\S+)@GLIBC_2\.(\d+)/g)].filter(([, , minor]) => Number(minor) > 28);
    assert.deepEqual(
      newer.map(([, symbol]) => symbol),
      [],
    );
    assert.doesNotMatch(stdout, /NEEDED.*libstdc\+\+|@GLIBCXX/);
  });
}

test('the addon is one of them, and its symbols are read', { skip }, () => {
  assert.ok(libraries.includes('gpu_memory_trace.node'));
  const { stdout } = spawnSync('readelf', ['-W', '--dyn-syms', join(folder, 'gpu_memory_trace.node')], {
    encoding: 'utf8',
  });
  assert.match(stdout, /UND \S+@GLIBC_2\.\d+/);
});
