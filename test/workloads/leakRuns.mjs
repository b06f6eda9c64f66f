// Planted leaks and their look-alikes as tests: each job of the folders traced, its findings against the folder's expect.json, and a
// table with precision and recall at the end. GPU_MEMTRACE_LEAKS=FOLDER adds a folder, GPU_MEMTRACE_KEEP=FOLDER keeps the traces.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { judgeLeaks } from '../golden/judgeLeaks.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '../../dist/cli.js');

/** The report of a traced run of `file`. */
async function runJob(file, { python, env, options }) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-leaks-'));
  const report = join(folder, 'report.json');
  const keep = process.env.GPU_MEMTRACE_KEEP;
  const trace = join(keep ?? folder, `${basename(file, '.py')}.gputrace`);
  if (keep) mkdirSync(keep, { recursive: true });
  const args = ['run', '--format', 'json', '--report', report, '-o', trace, '--holders', ...options];
  const child = spawn(process.execPath, [cli, ...args, '--', python, file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  let stderr = '';
  child.stderr.on('data', data => (stderr += data));
  await new Promise(resolve => child.on('close', resolve));
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch (error) {
    throw new Error(`${basename(file)} gave no report: ${stderr || error.message}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function table(rows) {
  rows.sort((a, b) => a.name.localeCompare(b.name));
  const mark = value => (value === null ? '' : value ? 'yes' : 'NO');
  const lines = [
    '| case | expected | got | line | holder line | holder path | steps | what holds it |',
    '|---|---|---|---|---|---|---|---|',
  ];
  for (const row of rows) {
    const marks = [row.site, row.holder, row.path].map(mark);
    lines.push(`| ${[row.name, row.expected, row.got, ...marks, row.steps, row.holderText].join(' | ')} |`);
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
          const report = await runJob(jobFile(join(folder, name)), { python, env: env(expected), options });
          const judged = judgeLeaks(name, expected, report);
          rows.push({
            name: basename(name, '.py'),
            expected: expected.verdict,
            steps: report.steps?.count,
            ...judged,
          });
          assert.equal(judged.got, expected.verdict, judged.titles.join('\n'));
          if (expected.site === undefined) return;
          assert.equal(judged.titles.length, 1, `one cause: ${judged.titles.join('\n')}`);
          assert.ok(judged.site, `line ${expected.site}: ${judged.titles}`);
          const held = judged.holder !== false && judged.path;
          assert.ok(held, `holder ${expected.holderPath} at ${expected.holder}: ${judged.holderText}`);
        });
      }
    });
  }
  after(() => console.log(table(rows)));
}
