// Planted leaks and their look-alikes as tests: each job of the folders traced, its findings against the folder's expect.json, and a
// table with precision and recall at the end. GPU_MEMTRACE_LEAKS=FOLDER adds a folder, GPU_MEMTRACE_KEEP=FOLDER keeps the traces.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { judgeLeaks } from '../golden/judgeLeaks.mjs';
import { fixFor, leaksOf, runJob, withFix } from './tracedJob.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/** A leak's fix is tried: the leak is gone, and the program prints what it printed. Gives what was written; '' where there is no fix. */
async function tryFix(file, { report, stdout }, how) {
  const fix = fixFor(file, report);
  if (fix === undefined) return '';
  const after = await withFix(file, fix, copy => runJob(copy, how));
  assert.equal(after.stdout, stdout, fix.statement);
  assert.deepEqual(
    leaksOf(after.report).map(({ title }) => title),
    [],
    fix.statement,
  );
  return fix.statement;
}

function table(rows) {
  rows.sort((a, b) => a.name.localeCompare(b.name));
  const mark = value => (value === null ? '' : value ? 'yes' : 'NO');
  const lines = [
    '| case | expected | got | line | holder line | holder path | steps | what holds it | fix, tried |',
    '|---|---|---|---|---|---|---|---|---|',
  ];
  for (const row of rows) {
    const marks = [row.site, row.holder, row.path].map(mark);
    lines.push(`| ${[row.name, row.expected, row.got, ...marks, row.steps, row.holderText, row.fix].join(' | ')} |`);
  }
  const count = wanted => rows.filter(wanted).length;
  const right = count(row => row.expected === 'leak' && row.got === 'leak' && row.site !== false);
  const said = count(row => row.got === 'leak');
  const planted = count(row => row.expected === 'leak');
  return [...lines, `precision ${right}/${said}, recall ${right}/${planted}`].join('\n');
}

/** Registers a test for each job of the folder. `python` runs them, with the variables `env` for what is expected and with `options` of the command,
 * `concurrency` at once; `jobFile` gives the file to run for one of a folder, `left` (of name and expectation) why one is left out, if it is. */
export function testLeaks({
  folder: own = 'leaks',
  python,
  holderTime = 'atSteps',
  env = () => ({}),
  options = [],
  concurrency,
  jobFile = file => file,
  left = () => false,
}) {
  const rows = [];
  const folders = [join(here, own), process.env.GPU_MEMTRACE_LEAKS].filter(Boolean);
  for (const folder of folders) {
    const expectations = JSON.parse(readFileSync(join(folder, 'expect.json'), 'utf8'));
    describe(`leaks in ${basename(folder)}`, { concurrency }, () => {
      for (const [name, expected] of Object.entries(expectations)) {
        test(name, { skip: left(name, expected) }, async () => {
          const file = jobFile(join(folder, name));
          const holders = ['--holders', expected.holders ?? holderTime];
          const how = { python, env: env(expected), options: [...holders, ...options] };
          const run = await runJob(file, how);
          assert.deepEqual(run.report.lost.byCause, {});
          const judged = judgeLeaks(name, expected, run.report);
          const row = { name: basename(name, '.py'), expected: expected.verdict, steps: run.report.steps?.count };
          rows.push({ ...row, ...judged, fix: '' });
          assert.equal(judged.got, expected.verdict, judged.titles.join('\n'));
          if (expected.site === undefined) return;
          assert.equal(judged.titles.length, 1, `one cause: ${judged.titles.join('\n')}`);
          assert.ok(judged.site, `line ${expected.site}: ${judged.titles}`);
          const held = judged.holder !== false && judged.path;
          assert.ok(held, `holder ${expected.holderPath} at ${expected.holder}: ${judged.holderText}`);
          const advice = leaksOf(run.report)[0].suggestion;
          assert.ok(advice.includes(expected.advice ?? ''), `advice ${expected.advice}: ${advice}`);
          rows.find(({ name }) => name === row.name).fix = await tryFix(file, run, how);
        });
      }
    });
  }
  after(() => console.log(table(rows)));
}
