// Installs what is stale, builds, and runs every test. The last line sums all stages.
//   node test/runner/run.mjs [stage …]     (no name: all stages)
import { mkdirSync } from 'node:fs';
import { install } from '../project/install.mjs';
import { inRoot } from '../project/root.mjs';
import { stages } from './stages.mjs';

/** Runs one stage; an Error counts as one failure. */
async function runStage(stage) {
  console.log(`\n== ${stage.name}: ${stage.what}`);
  const began = Date.now();
  let result;
  try {
    result = { passed: 0, failed: 0, skipped: [], ...(await stage.run()) };
  } catch (error) {
    console.error(error.message);
    result = { passed: 0, failed: 1, skipped: [] };
  }
  if (result.passed + result.failed + result.skipped.length === 0) {
    console.error('No test ran.');
    result.failed = 1;
  }
  const seconds = (Date.now() - began) / 1000;
  console.log(`== ${stage.name}: ${counts(result)} (${seconds.toFixed(1)} s)`);
  return { name: stage.name, seconds, ...result };
}

function counts({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped.length ? `, ${skipped.length} skipped` : ''}`;
}

function summary(results) {
  console.log('\n== summary');
  for (const result of results) {
    const time = `${result.seconds.toFixed(1)} s`.padStart(8);
    console.log(`${result.failed ? 'FAILED' : 'ok    '} ${result.name.padEnd(8)} ${time}  ${counts(result)}`);
    for (const reason of result.skipped) console.log(`         skipped: ${reason}`);
    for (const note of result.notes ?? []) console.log(`         ${note}`);
  }
  const sum = results.reduce(
    (all, { passed, failed, skipped }) => ({
      passed: all.passed + passed,
      failed: all.failed + failed,
      skipped: all.skipped.concat(skipped),
    }),
    { passed: 0, failed: 0, skipped: [] },
  );
  console.log(counts(sum));
  return sum.failed === 0;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter(name => !stages.some(stage => stage.name === name));
if (unknown.length) {
  console.error(`There is no stage ${unknown.join(', ')}. Stages: ${stages.map(stage => stage.name).join(' ')}`);
  process.exit(2);
}
mkdirSync(inRoot('build/test-results'), { recursive: true });
try {
  console.log(await install());
} catch (error) {
  console.error(error.message);
  console.log('0 passed, 1 failed');
  process.exit(1);
}
const results = [];
for (const stage of stages) {
  if (wanted.length && !wanted.includes(stage.name) && !stage.needed?.some(name => wanted.includes(name))) continue;
  results.push(await runStage(stage));
}
process.exit(summary(results) ? 0 : 1);
