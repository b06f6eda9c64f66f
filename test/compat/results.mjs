// What was found of each release, in results.json, from where the manual's tables are made.
import { readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from '../project/root.mjs';
import { minorOf, writeTables } from './tables.mjs';

const RESULTS = inRoot('test/compat/results.json');
const numbers = ({ torch, python = '' }) => [...torch.split('.'), ...python.split('.')].map(parseFloat);

/** The newest first. */
function byVersion(one, other) {
  const [a, b] = [numbers(one), numbers(other)];
  const at = a.findIndex((part, place) => part !== b[place]);
  return at < 0 ? 0 : (b[at] ?? 0) - (a[at] ?? 0);
}

/** Puts a row of `kind`, releases or wheels, in the place of the one of the same release and Python. */
export function keepRow(kind, row) {
  const kept = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const key = one => `${minorOf(one.torch)} ${minorOf(one.python)}`;
  kept[kind] = [...kept[kind].filter(one => key(one) !== key(row)), row].sort(byVersion);
  writeFileSync(RESULTS, `${JSON.stringify(kept, null, 2)}\n`);
  writeTables(kept);
}
