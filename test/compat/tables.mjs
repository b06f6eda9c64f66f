// The manual's tables of releases, from results.json.
import { writeFileSync } from 'node:fs';
import { inRoot } from '../project/root.mjs';
import { CHECKS } from './checks.mjs';

const SIGNS = { ok: 'yes', differs: 'no', skipped: '–' };

export function writeTables({ releases }) {
  const head = ['PyTorch', 'Python', ...CHECKS.map(({ title }) => title), 'date'];
  const cells = releases.map(({ torch, python, date, checks }) => [
    torch,
    python,
    ...CHECKS.map(({ key }) => SIGNS[checks.find(one => one.key === key)?.result ?? 'skipped']),
    date,
  ]);
  const lines = [head, head.map(() => '---'), ...cells].map(row => `| ${row.join(' | ')} |`);
  writeFileSync(inRoot('build/compat/table.md'), `${lines.join('\n')}\n`);
}
