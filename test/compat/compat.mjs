#!/usr/bin/env node
// Runs the product on releases of PyTorch, each in an environment of its own that is deleted afterwards:
//   npm run test:compat -- 2.14 [2.13 …] [--python 3.12] [--keep]
//   npm run test:compat -- --wheel 2.14 | FILE.whl          names and layouts in a wheel's libraries, without running it
// A line for each check; what was found goes to results.json, and from there into docs/results.md and test/bench/RESULTS.md. --keep leaves the environment.
import { CHECKS } from './releaseChecks.mjs';
import { makeEnvironment } from './environment.mjs';
import { keepRow } from './results.mjs';
import { runChecks } from './runChecks.mjs';
import { checkWheel } from './wheel.mjs';

const words = process.argv.slice(2);
const [keep, wheels] = ['--keep', '--wheel'].map(word => words.includes(word));
const minor = words.includes('--python') ? words[words.indexOf('--python') + 1] : undefined;
const named = words.filter((word, at) => !word.startsWith('--') && words[at - 1] !== '--python');
const today = () => new Date().toISOString().slice(0, 10);
const print = (title, { result, why }) => console.log(`  ${title.padEnd(26)} ${result}${why && ` (${why})`}`);

async function check(release) {
  const environment = await makeEnvironment(release, minor);
  if (environment.problem) {
    console.log(`PyTorch ${release}: skipped (${environment.problem})`);
    return false;
  }
  const { version, of } = environment;
  console.log(`PyTorch ${version}, Python ${of.version}`);
  try {
    const checks = await runChecks(environment);
    for (const one of checks) print(CHECKS.find(({ key }) => key === one.key).title, one);
    const [torch, build = ''] = version.split('+');
    keepRow('releases', { torch, build, python: of.version, date: today(), checks });
    return checks.every(({ result }) => result !== 'differs');
  } finally {
    if (!keep) environment.remove();
  }
}

async function read(wheel) {
  const found = await checkWheel(wheel);
  console.log(found.wheel);
  for (const row of found.rows) print(row.what, row);
  // A file is somebody's own: the table has those of the index.
  if (/^\d+\.\d+/.test(wheel))
    keepRow('wheels', {
      torch: found.wheel.split(/[-+]/)[1],
      date: today(),
      rows: found.rows.filter(({ result }) => result !== 'ok'),
    });
  return found.rows.every(({ result }) => result !== 'differs');
}

let agree = named.length > 0;
for (const one of named) agree = (await (wheels ? read : check)(one)) && agree;
process.exitCode = agree ? 0 : 1;
