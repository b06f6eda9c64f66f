// Memory snapshots made for one fault each (test/workloads/snapshots/made_snapshots.py): every sum of truth.tsv, and what is said of them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { linesOf, sentencesOf } from '../sentences.mjs';
import { checkSnapshot, fileOf, truthOf } from './checkSnapshots.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const FOLDER = resolve('test/golden/snapshots');

for (const truth of truthOf(FOLDER)) {
  const name = truth['file'] ?? '';
  test(`${name}: each sum is that of the file, and of the file written anew, and nothing is lost`, () => {
    assert.deepEqual(checkSnapshot(fileOf(FOLDER, name, FOLDER), truth), []);
  });
}

/** Of each report, the lines that tell of what it was made for, and what has no place in it. */
const SAID: [name: string, words: string[], lines: RegExp, wrong?: RegExp][] = [
  ['d3_oom_expandable', ['--oom'], /^\| .* \|$|^Bytes allocated by/],
  ['d3_oom_expandable', [], /^OUT OF|^ {2}(Try first|Or)|driver memory|the driver$/],
  ['d4_windows_paths', [], /model\.py:21 /, /site-packages/],
  ['d6_leak_5_rounds', [], /net\.py:12 .* 160 MiB/],
  ['d6_leak_30_rounds', [], /^LEAK: net\.py:12 /],
  ['d5_backward_without_python', [], /<backward pass>/, /thread48/],
  ['d2_one_optimizer_step', [], /^1 step /],
  ['d1_one_forward', [], /^MEMORY .*: d1_one_forward\.pickle$/],
];
for (const [name, words, lines, wrong] of SAID) {
  test(`${name} ${words.join(' ')}: what it was made for is said`, () => {
    const file = join(FOLDER, `${name}.pickle.gz`);
    const { stdout } = spawnSync(process.execPath, ['dist/cli.js', 'report', file, ...words], { encoding: 'utf8' });
    assert.match(stdout, new RegExp(lines.source, 'm'));
    assertSentence(linesOf(stdout, lines));
    if (wrong !== undefined) assert.doesNotMatch(stdout, wrong);
  });
}
