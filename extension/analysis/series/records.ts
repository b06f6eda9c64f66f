import type { Growth, GrowthInput } from './growth';
import { at, sum } from './statistics';
import { THRESHOLDS as T } from './thresholds';

// Of levels without a trend, whatever their distribution, the i-th is higher than all before it with probability 1/i, independently of
// the others (Rényi 1962, "Théorie des éléments saillants d'une suite d'observations"). Growth makes such records again and again.

/** Whether a level at the ends of steps makes more records than chance would, still does, and has kept its height; null: it does not. */
export function judgeRecords({ steps, values }: GrowthInput, warm: number): Growth | null {
  const changes = [...values.keys()].filter(i => i >= warm && at(values, i) !== at(values, i - 1));
  let highest = Math.max(...values.slice(0, warm), 0);
  const before = highest;
  const records = changes.filter(i => {
    const isRecord = at(values, i) > highest;
    if (isRecord) highest = at(values, i);
    return isRecord;
  });
  const [first, last, end] = [records[0], records.at(-1), values.length - 1];
  if (first === undefined || last === undefined || records.length < T.levelRecords) return null;
  if (chanceOfRecords(changes.length, records.length) >= T.recordsLevel) return null;
  const gap = (at(steps, last) - at(steps, first)) / (records.length - 1);
  const silent = at(steps, end) - at(steps, last);
  if (silent > Math.max(T.silentSteps, T.silentRecords * gap)) return null;
  if (
    laplace(
      records.map(i => at(steps, i)),
      at(steps, warm - 1),
      at(steps, end),
    ) < -T.thinningRecords
  )
    return null;
  if (at(values, end) - before <= (highest - before) / 2) return null;
  const perStep = (at(values, last) - at(values, first)) / Math.max(1, at(steps, last) - at(steps, first));
  const known = { since: at(steps, first), perStep, low: perStep, high: perStep, events: records.length, gap };
  return { state: 'growing', ...known, from: first - 1, to: end, waits: 0, resets: [] };
}

/** That `many` levels without a trend make at least `records` records. */
export function chanceOfRecords(many: number, records: number): number {
  // chances[r]: of r records so far; of one more the chance is 1/i at the i-th level.
  let chances = [1];
  for (let i = 1; i <= many; i++)
    chances = Array.from(
      { length: chances.length + 1 },
      (_, r) => (chances[r] ?? 0) * (1 - 1 / i) + (chances[r - 1] ?? 0) / i,
    );
  return sum(chances.slice(records));
}

/** Laplace's score of times in a span: far below zero where they thin out, about zero where they come at one rate. */
function laplace(times: readonly number[], from: number, to: number): number {
  const middle = (from + to) / 2;
  return (sum(times) / times.length - middle) / ((to - from) / Math.sqrt(12 * times.length));
}
