// What the packed extension points to is packed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(__dirname, '../../../..');

const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
assert.ok(typeof manifest === 'object' && manifest !== null && 'files' in manifest && Array.isArray(manifest.files));
const globs = manifest.files.map(pattern => `:(glob)${String(pattern)}`);
const found = execFileSync('git', ['ls-files', '--cached', '--others', '--', ...globs], {
  cwd: root,
  encoding: 'utf8',
});
/** What `vsce ls` lists: its patterns are those of git's `:(glob)`. */
const packed = new Set(found.split('\n'));

test('the sample is in the package, and nothing of the test bed', () => {
  for (const name of ['finetune.py', 'finetune.gputrace']) assert.ok(packed.has(`media/sample/${name}`), name);
  const native = [...packed].filter(file => file.startsWith('dist/native/'));
  assert.ok(native.includes('dist/native/libgpumemtrace.so'), native.join());
  const others = [...packed].filter(file => /simulator|^build\/|^test\/(?!bench\/RESULTS\.md$)/.test(file));
  assert.deepEqual(others, []);
});

test('files that README.md, the command line and the skill name are in the package', () => {
  const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
  const links = [...textOf('README.md').matchAll(/(?:\]\(|src="|href="|^\[[^\]]+\]: )(?!https?:|#)([^)\s"#]+)/gm)];
  const named = ['extension/cli/arguments/help.ts', 'skills/gpu-memory-debugging/SKILL.md'].flatMap(file => [
    ...textOf(file).matchAll(/(?<![\w/.])((?:[\w.-]+\/)+[\w.-]+\.md)\b/g),
  ]);
  const all = [...links, ...named].map(([, file = '']) => file.replace(/^\.\//, ''));
  assert.ok(all.length > 5);
  assert.deepEqual([...new Set(all)].filter(file => !packed.has(file)).sort(), []);
});
