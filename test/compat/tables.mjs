// The tables of releases, from results.json: what was run in the manual, what was read in the record.
import { readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from '../project/root.mjs';
import { CHECKS } from './releaseChecks.mjs';
import { PARTS } from './wheelFacts.mjs';

const RAN = inRoot('docs/results.md');
const READ = inRoot('test/bench/RESULTS.md');
const SIGNS = { ok: 'yes', differs: '**no**', skipped: '–' };

export const minorOf = version => version?.replace(/\.\d+(t?)$/, '$1') ?? '';

const table = rows => {
  const widths = rows[0].map((_, column) => Math.max(...rows.map(row => row[column].length)));
  const line = row => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(rows[0]), line(widths.map(width => '-'.repeat(width))), ...rows.slice(1).map(line)].join('\n');
};

/** Releases with the same cells share a row; of each release, its Pythons. */
function sharing(rows) {
  const alike = new Map();
  for (const [torch, python, ...cells] of rows) {
    const releases = alike.get(cells.join('|')) ?? new Map();
    alike.set(cells.join('|'), releases.set(torch, [...(releases.get(torch) ?? []), python].filter(Boolean)));
  }
  const nameOf = ([torch, pythons]) => (pythons.length === 0 ? torch : `${torch} (${pythons.join(', ')})`);
  return [...alike].map(([cells, releases]) => [[...releases].map(nameOf).join(', '), ...cells.split('|')]);
}

const ran = releases => [
  ['PyTorch (Python)', ...CHECKS.map(({ title }) => title), 'date'],
  ...sharing(
    releases.map(({ torch, python, date, checks }) => {
      const cells = CHECKS.map(({ key }) => SIGNS[checks.find(one => one.key === key)?.result ?? 'skipped']);
      return [torch, minorOf(python), ...cells, date];
    }),
  ),
];

/** A part is there where no row says that something of it is not. */
const read = wheels => {
  const rows = wheels.map(({ torch, date, rows }) => {
    const cells = Object.keys(PARTS).map(part => {
      const own = rows.filter(({ of }) => of === part).map(({ result }) => result);
      return SIGNS[['differs', 'skipped'].find(sign => own.includes(sign)) ?? 'ok'];
    });
    return [torch, '', ...cells, date];
  });
  return [['PyTorch', ...Object.values(PARTS), 'date'], ...sharing(rows)];
};

function put(file, name, content) {
  const text = readFileSync(file, 'utf8');
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < 0) throw new Error(`${file} has no place for ${name}.`);
  writeFileSync(file, `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`);
}

export function writeTables({ releases, wheels }) {
  put(RAN, 'releases that were run', table(ran(releases)));
  put(READ, 'releases that were read', table(read(wheels)));
}
