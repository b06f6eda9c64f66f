// Planted leaks and their look-alikes: the findings of each job against its expect.json, with precision and recall at the end.
// GPU_MEMTRACE_LEAKS=FOLDER adds another folder of cases; GPU_MEMTRACE_KEEP=FOLDER keeps the traces.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { judgeLeaks } from '../golden/judgeLeaks.mjs';
import { python } from './traced.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '../../dist/cli.js');
const folders = [join(here, '../workloads/leaks'), process.env.GPU_MEMTRACE_LEAKS].filter(Boolean);
const keep = process.env.GPU_MEMTRACE_KEEP;
const rows = [];

/** The findings that call something a leak, of a traced run of `file`. */
async function run(file) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-leaks-'));
  const report = join(folder, 'report.json');
  const trace = join(keep ?? folder, `${basename(file, '.py')}.gputrace`);
  if (keep) mkdirSync(keep, { recursive: true });
  const args = ['run', '--format', 'json', '--report', report, '-o', trace, '--holders', '--', python, file];
  const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', data => (stderr += data));
  const status = await new Promise(resolve => child.on('close', resolve));
  try {
    return { status, stderr, report: JSON.parse(readFileSync(report, 'utf8')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function judge(file, expected, report) {
  const name = basename(file);
  const facts = { name: basename(file, '.py'), expected: expected.verdict, steps: report.steps?.count };
  return { ...facts, ...judgeLeaks(name, expected, report) };
}

for (const folder of folders) {
  const expectations = JSON.parse(readFileSync(join(folder, 'expect.json'), 'utf8'));
  describe(`leaks in ${basename(folder)}`, { concurrency: 6 }, () => {
    for (const [name, expected] of Object.entries(expectations)) {
      test(name, async () => {
        const { report, stderr } = await run(join(folder, name));
        assert.ok(report, stderr);
        const row = judge(name, expected, report);
        rows.push(row);
        assert.equal(row.got, expected.verdict, row.titles.join('\n'));
        if (expected.site !== undefined) {
          assert.equal(row.titles.length, 1, `one cause: ${row.titles.join('\n')}`);
          assert.ok(row.site, `line ${expected.site}: ${row.titles}`);
          assert.ok(
            row.holder !== false && row.path,
            `holder ${expected.holderPath} at ${expected.holder}: ${row.holderText}`,
          );
        }
      });
    }
  });
}

after(() => {
  rows.sort((a, b) => a.name.localeCompare(b.name));
  const mark = value => (value === null ? '' : value ? 'yes' : 'NO');
  console.log(
    '| case | expected | got | line | holder line | holder path | steps | what holds it |\n|---|---|---|---|---|---|---|---|',
  );
  for (const row of rows) {
    const cells = [
      row.name,
      row.expected,
      row.got,
      mark(row.site),
      mark(row.holder),
      mark(row.path),
      row.steps,
      row.holderText,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const count = test => rows.filter(test).length;
  const right = count(row => row.expected === 'leak' && row.site);
  const said = count(row => row.got === 'leak');
  const planted = count(row => row.expected === 'leak');
  console.log(`precision ${right}/${said}, recall ${right}/${planted}`);
});
