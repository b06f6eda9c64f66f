// Planted leaks and their look-alikes as tests: each job of the folders traced, its findings against the folder's expect.json, and a
// table with precision and recall at the end. GPU_MEMTRACE_LEAKS=FOLDER adds a folder, GPU_MEMTRACE_KEEP=FOLDER keeps the traces.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { judgeLeaks } from '../golden/judgeLeaks.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '../../dist/cli.js');

/** The report of a traced run of `file`, and what the program printed. */
async function runJob(file, { python, env, options, holders = 'atSteps' }) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-leaks-'));
  const report = join(folder, 'report.json');
  const keep = process.env.GPU_MEMTRACE_KEEP;
  const trace = join(keep ?? folder, `${basename(file, '.py')}.gputrace`);
  if (keep) mkdirSync(keep, { recursive: true });
  const args = ['run', '--format', 'json', '--report', report, '-o', trace, '--holders', holders, ...options];
  const child = spawn(process.execPath, [cli, ...args, '--', python, file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', data => (stdout += data));
  child.stderr.on('data', data => (stderr += data));
  await new Promise(resolve => child.on('close', resolve));
  try {
    return { report: JSON.parse(readFileSync(report, 'utf8')), stdout };
  } catch (error) {
    throw new Error(`${basename(file)} gave no report: ${stderr || error.message}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The program with the fix of a finding, in a folder of its own; null where none has one. */
function fixedJob(file, report) {
  const { fix } = (report.findings ?? []).find(({ holder }) => holder?.fix && holder.file === file)?.holder ?? {};
  if (fix === undefined) return null;
  const lines = readFileSync(file, 'utf8').split('\n');
  const [head, tail] = [lines[fix.line - 1].slice(0, fix.column - 1), lines[fix.endLine - 1].slice(fix.endColumn - 1)];
  lines.splice(fix.line - 1, fix.endLine - fix.line + 1, head + fix.after + tail);
  const to = join(mkdtempSync(join(tmpdir(), 'gpu-memtrace-fixed-')), basename(file));
  writeFileSync(to, lines.join('\n'));
  return { file: to, text: fix.statement };
}

/** A leak's fix is tried: the leak is gone, and the program prints what it printed. Gives what was written; '' where there is no fix. */
async function tryFix(file, { report, stdout }, how) {
  const fixed = fixedJob(file, report);
  if (fixed === null) return '';
  try {
    const after = await runJob(fixed.file, how);
    assert.equal(after.stdout, stdout, fixed.text);
    const left = after.report.findings.filter(({ verdict }) => verdict === 'leak');
    assert.deepEqual(
      left.map(({ title }) => title),
      [],
      fixed.text,
    );
  } finally {
    rmSync(dirname(fixed.file), { recursive: true, force: true });
  }
  return fixed.text;
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

/** Registers a test for each job. `python` runs them, with the variables `env` for what is expected and with `options` of the command,
 * `concurrency` at once; `jobFile` gives the file to run for one of a folder, `left` why one is left out, if it is. */
export function testLeaks({
  python,
  env = () => ({}),
  options = [],
  concurrency,
  jobFile = file => file,
  left = () => false,
}) {
  const rows = [];
  const folders = [join(here, 'leaks'), process.env.GPU_MEMTRACE_LEAKS].filter(Boolean);
  for (const folder of folders) {
    const expectations = JSON.parse(readFileSync(join(folder, 'expect.json'), 'utf8'));
    describe(`leaks in ${basename(folder)}`, { concurrency }, () => {
      for (const [name, expected] of Object.entries(expectations)) {
        test(name, { skip: left(name) }, async () => {
          const file = jobFile(join(folder, name));
          const how = { python, env: env(expected), options, holders: expected.holders };
          const run = await runJob(file, how);
          const judged = judgeLeaks(name, expected, run.report);
          const row = { name: basename(name, '.py'), expected: expected.verdict, steps: run.report.steps?.count };
          rows.push({ ...row, ...judged, fix: '' });
          assert.equal(judged.got, expected.verdict, judged.titles.join('\n'));
          if (expected.site === undefined) return;
          assert.equal(judged.titles.length, 1, `one cause: ${judged.titles.join('\n')}`);
          assert.ok(judged.site, `line ${expected.site}: ${judged.titles}`);
          const held = judged.holder !== false && judged.path;
          assert.ok(held, `holder ${expected.holderPath} at ${expected.holder}: ${judged.holderText}`);
          rows.find(({ name }) => name === row.name).fix = await tryFix(file, run, how);
        });
      }
    });
  }
  after(() => console.log(table(rows)));
}
