// Planted leaks and their look-alikes: the findings of each job against its expect.json, with precision and recall at the end.
// GPU_MEMTRACE_LEAKS=FOLDER adds another folder of cases; GPU_MEMTRACE_KEEP=FOLDER keeps the traces.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

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

const linesOf = (finding, report, file) =>
  finding.sites
    .map(id => report.sites.find(site => site.id === id)?.userFrame)
    .filter(frame => frame?.file.endsWith(basename(file)))
    .map(frame => frame.line);

function judge(file, expected, report) {
  const leaks = report.findings.filter(finding => finding.verdict === 'leak' || finding.verdict === 'growing');
  const lines = leaks.map(finding => linesOf(finding, report, file)[0]);
  const main = leaks.find(finding => linesOf(finding, report, file).includes(expected.site)) ?? leaks[0];
  const holder = main?.holder;
  return {
    name: basename(file, '.py'),
    expected: expected.verdict,
    got: report.oom?.length ? 'oom' : leaks.length ? 'leak' : 'none',
    leaks: leaks.length,
    lines,
    site: expected.site === undefined ? null : lines.includes(expected.site),
    holder: expected.holder === undefined ? null : holder?.line === expected.holder,
    path: expected.holderPath === undefined ? null : (holder?.path ?? '').includes(expected.holderPath),
    holderPath: holder ? `${holder.path} (line ${holder.line})` : '',
    steps: report.steps?.count,
  };
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
        assert.equal(row.got, expected.verdict, JSON.stringify(report.findings.map(finding => finding.title)));
        if (expected.verdict === 'leak') {
          assert.equal(row.leaks, 1, `one cause: ${JSON.stringify(report.findings.map(finding => finding.title))}`);
          assert.ok(row.site, `line ${expected.site}: ${row.lines}`);
          assert.ok(row.holder && row.path, `holder ${expected.holderPath} at ${expected.holder}: ${row.holderPath}`);
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
      row.holderPath,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const count = test => rows.filter(test).length;
  const right = count(row => row.expected === 'leak' && row.site);
  const said = count(row => row.got === 'leak');
  const planted = count(row => row.expected === 'leak');
  console.log(`precision ${right}/${said}, recall ${right}/${planted}`);
});
