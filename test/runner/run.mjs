// Installs what is stale, builds, and runs every test. The last line sums all stages.
//   node test/runner/run.mjs [STAGE | STAGE/PART | words of a test's name after a stage …] [--update]     (nothing: all stages)
// --update: tests keep the sentences, screens and reports that they see instead of comparing them; the diff shows what changed.
import { mkdirSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { install } from '../project/install.mjs';
import { inPart } from '../project/progress.mjs';
import { inRoot } from '../project/root.mjs';
import { selectStages } from './arguments.mjs';
import { findPythonOnce } from './pythons.mjs';
import { runStages } from './schedule.mjs';

/** Stages wait now and then: so much more of them than there are cores keeps all cores busy. */
const AT_ONCE = 1.5;
/** What a whole run leaves at most in the folder for temporary files and in `build`, with room for the tracer's own comfort. */
const FREE_BYTES = 4 * 2 ** 30;

const began = Date.now();
const ofResult = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped.length ? `, ${skipped.length} skipped` : ''}`;
const time = seconds => `${seconds.toFixed(1)} s`;

function printStage(stage, result, output) {
  if (result.passed + result.failed + result.skipped.length === 0) {
    output += 'No test ran.\n';
    result.failed = 1;
  }
  console.log(`\n== ${stage.name}: ${stage.what}`);
  if (output.trim()) console.log(output.trimEnd());
  console.log(`== ${stage.name}: ${ofResult(result)} (${time(result.seconds)})`);
}

/** Each stage with when it began and how long it took, then what is skipped and what failed, then the sum. */
function summary(results) {
  console.log(`\n== summary                began       took`);
  for (const result of [...results].sort((a, b) => a.from - b.from)) {
    const times = `${time(result.from).padStart(10)} ${time(result.seconds).padStart(10)}`;
    console.log(`${result.failed ? 'FAILED' : 'ok    '} ${result.name.padEnd(10)} ${times}   ${ofResult(result)}`);
    for (const reason of result.skipped) console.log(`         skipped: ${reason}`);
    for (const note of result.notes) console.log(`         ${note}`);
  }
  console.log(`took ${time((Date.now() - began) / 1000)} in all`);
  const all = { passed: 0, failed: 0, skipped: [] };
  for (const { passed, failed, skipped } of results) {
    all.passed += passed;
    all.failed += failed;
    all.skipped.push(...skipped);
  }
  console.log(ofResult(all));
  return all.failed === 0;
}

mkdirSync(inRoot('build/test-results'), { recursive: true });
for (const folder of [inRoot('build'), tmpdir()]) {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= FREE_BYTES) continue;
  const [free, needed] = [bavail * bsize, FREE_BYTES].map(bytes => `${(bytes / 2 ** 30).toFixed(1)} GiB`);
  console.log(`Only ${free} is free in ${folder}, and the tests need ${needed}. Free some space, and run them again.`);
  console.log('0 passed, 1 failed');
  process.exit(1);
}
const installed = await inPart('packages', install);
console.log(installed.error?.message ?? `${installed.value} (${time(installed.seconds)})`);
if (installed.error) {
  console.log('0 passed, 1 failed');
  process.exit(1);
}
findPythonOnce();
const { stages } = await import('./stages.mjs'); // they need the packages
const words = process.argv.slice(2).filter(word => word !== '--update');
if (words.length < process.argv.length - 2) process.env.UPDATE_GOLDEN = '1';
const selected = selectStages(stages, words);
if (typeof selected === 'string') {
  console.error(selected);
  process.exit(2);
}
const isNeeded = name => stages.some(stage => selected.has(stage.name) && stage.needs?.includes(name));
const chosen = stages
  .filter(({ name, onRequest }) => (selected.size === 0 ? !onRequest : selected.has(name) || isNeeded(name)))
  .map(stage => ({ ...stage, run: () => stage.run(selected.get(stage.name) ?? { paths: [], words: [] }) }));
const results = await runStages(chosen, AT_ONCE * Math.max(2, availableParallelism()), printStage);
process.exit(summary(results) ? 0 : 1);
