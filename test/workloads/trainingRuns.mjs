// The training scripts as tests, from the terminal: a run names the line that keeps its leak and what to write there; that is written
// into a copy, which leaks nothing and prints the same.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fixFor, leaksOf, runJob, withFix } from './tracedJob.mjs';
import { lineWith, TRAINING } from './trainingScripts.mjs';

/** Registers a test for each script, `concurrency` at once. `words` gives its arguments, `options` are the command's. */
export function testTraining({ python, env = {}, options = [], words = () => [], concurrency = 1 }) {
  describe('training scripts', { concurrency }, () => {
    for (const script of TRAINING)
      test(script.name, async () => {
        const file = fileURLToPath(new URL(`training/${script.name}`, import.meta.url));
        const how = { python, env, options, words: words(script) };
        const run = await runJob(file, how);
        const leaks = leaksOf(run.report);
        assert.equal(leaks.length, 1, leaks.map(({ title }) => title).join('\n'));
        const [{ holder, title }] = leaks;
        assert.deepEqual([holder?.file, holder?.line], [file, lineWith(file, script.line)], title);
        const fix = fixFor(file, run.report);
        assert.equal(fix?.statement, script.mended, title);
        const after = await withFix(file, fix, copy => runJob(copy, how));
        assert.deepEqual(
          leaksOf(after.report).map(leak => leak.title),
          [],
        );
        assert.match(run.stdout, /^[a-z ]+: [\d.]+\n$/m, 'its last line is the result');
        assert.equal(after.stdout, run.stdout);
      });
  });
}
