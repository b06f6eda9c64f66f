#!/usr/bin/env node
// Runs the product on releases of PyTorch, each in an environment of its own that is deleted afterwards:
//   npm run test:compat -- 2.14 [2.13 …] [--python 3.12] [--keep]
//   npm run test:compat -- --wheel 2.14 | FILE.whl          names and layouts in a wheel's libraries, without running it
// A line for each check; what was found goes to results.json, and from there into docs/compatibility.md. --keep leaves the environment.
import { readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from '../project/root.mjs';
import { CHECKS } from './checks.mjs';
import { makeEnvironment } from './environment.mjs';
import { runChecks } from './runChecks.mjs';
import { writeTables } from './tables.mjs';

const RESULTS = inRoot('test/compat/results.json');

const words = process.argv.slice(2);
const keep = words.includes('--keep');
const after = name => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
const minor = after('--python');
const releases = words.filter((word, at) => !word.startsWith('--') && words[at - 1] !== '--python');

const byVersion = (one, other) => {
  const [a, b] = [one, other].map(({ torch, python }) => [...torch.split(/[.+]/), ...python.split('.')].map(parseFloat));
  const at = a.findIndex((part, place) => part !== b[place]);
  return at < 0 ? 0 : (b[at] || 0) - (a[at] || 0);
};

/** Puts a row in the place of the one of the same release and Python. */
function keepRow(row) {
  const kept = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const same = one => one.torch === row.torch && one.python.replace(/\.\d+(t?)$/, '$1') === row.python.replace(/\.\d+(t?)$/, '$1');
  kept.releases = [...kept.releases.filter(one => !same(one)), row].sort(byVersion);
  writeFileSync(RESULTS, `${JSON.stringify(kept, null, 1)}\n`);
  writeTables(kept);
}

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
    for (const { key, result, why } of checks)
      console.log(`  ${CHECKS.find(one => one.key === key).title.padEnd(16)} ${result}${why && ` (${why})`}`);
    const date = new Date().toISOString().slice(0, 10);
    keepRow({ torch: version.replace(/\+.*/, ''), build: version.split('+')[1] ?? '', python: of.version, date, checks });
    return checks.every(({ result }) => result !== 'differs');
  } finally {
    if (!keep) environment.remove();
  }
}

let agree = releases.length > 0;
for (const release of releases) agree = (await check(release)) && agree;
process.exitCode = agree ? 0 : 1;
