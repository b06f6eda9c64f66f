// Memory snapshots made for one fault each (test/workloads/snapshots/made_snapshots.py): every sum of truth.tsv, and what is said of them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { checkSnapshot, fileOf, truthOf } from './checkSnapshots.mjs';

const FOLDER = resolve('test/golden/snapshots');

for (const truth of truthOf(FOLDER)) {
  const name = truth['file'] ?? '';
  test(`${name}: each sum is that of the file, and of the file written anew, and nothing is lost`, () => {
    assert.deepEqual(checkSnapshot(fileOf(FOLDER, name, FOLDER), truth), []);
  });
}

const SAID: [name: string, words: string[], right: RegExp, wrong?: RegExp][] = [
  ['d3_oom_expandable', ['--oom'], /\| free \| 91\.00 MB \|/, /what was free of it/],
  [
    'd3_oom_expandable',
    [],
    /^OUT OF MEMORY: 512\.00 MB at net\.py:36 forward did not fit/m,
    /driver memory outside|straight from the driver/,
  ],
  ['d4_windows_paths', [], /^GREW UNTIL THE END: model\.py:21: /m, /site-packages/],
  ['d6_leak_5_rounds', [], /5 steps: too few .* what net\.py:12 forward keeps rose 4 times, by 160\.00 MB/],
  ['d6_leak_30_rounds', [], /^LEAK: net\.py:12: /m],
  ['d5_backward_without_python', [], /<backward pass> without Python frames$/m, /thread48/],
  ['d2_one_optimizer_step', [], /^1 step \(optimizer\)$/m],
  ['d1_one_forward', [], /^MEMORY SNAPSHOT: d1_one_forward\.pickle$/m],
];
for (const [name, words, right, wrong] of SAID) {
  test(`${name} ${words.join(' ')}: says ${right.source}`, () => {
    const file = join(FOLDER, `${name}.pickle.gz`);
    const { stdout } = spawnSync(process.execPath, ['dist/cli.js', 'report', file, ...words], { encoding: 'utf8' });
    assert.match(stdout, right);
    if (wrong !== undefined) assert.doesNotMatch(stdout, wrong);
  });
}
