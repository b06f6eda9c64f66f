// Two sequences that are mostly alike, set side by side.

/** Cells that are looked at for one pair of sequences, at the most: a second of work. */
const MOST_CELLS = 32_000_000;
/** How far one sequence may run ahead of the other beside what it has more. */
const AHEAD = 64;
const MOST_AHEAD = 512;

/** How the best way to a cell came there. */
const SKIP_OWN = 1;
const SKIP_THERE = 2;
const PAIR = 3;

type Score = (own: number, there: number) => number;

/**
 * For each of `own` elements the one of `there` that stands in its place, -1: none; both in their order, so that the sum of the scores
 * is the highest. `score`: of two elements, 0: they are no pair; `most`: of two that are alike.
 */
export function pairing(own: number, there: number, score: Score, most: number): Int32Array {
  const fewest = Math.min(own, there);
  let begin = 0;
  while (begin < fewest && score(begin, begin) === most) begin++;
  let end = 0;
  while (end < fewest - begin && score(own - 1 - end, there - 1 - end) === most) end++;
  const between = bestPairs(own - begin - end, there - begin - end, (at, beside) => score(begin + at, begin + beside));
  return Int32Array.from({ length: own }, (_, at) => {
    if (at < begin) return at;
    if (at >= own - end) return at + there - own;
    const beside = between[at - begin] ?? -1;
    return beside < 0 ? -1 : begin + beside;
  });
}

function bestPairs(own: number, there: number, score: Score): Int32Array {
  const pairs = new Int32Array(own).fill(-1);
  if (own === 0 || there === 0) return pairs;
  const most = Math.min(MOST_AHEAD, Math.max(16, Math.floor(MOST_CELLS / 2 / own)));
  const ahead = Math.min(most, AHEAD + Math.abs(own - there));
  const width = 2 * ahead + 1;
  // Column 0 of a row is this element of the other sequence; it may lie before the first one.
  const first = (row: number): number => Math.round((row * there) / own) - ahead;
  const ways = new Uint8Array(own * width);
  let [before, now] = [new Float64Array(width), new Float64Array(width)];
  for (let row = 0; row < own; row++) {
    const [begin, shift] = [first(row), row === 0 ? 0 : first(row) - first(row - 1)];
    for (let column = 0; column < width; column++) {
      const at = begin + column;
      const above = row === 0 ? 0 : (before[Math.min(width - 1, column + shift)] ?? 0);
      const left = column === 0 ? 0 : (now[column - 1] ?? 0);
      let [best, way] = left > above ? [left, SKIP_THERE] : [above, SKIP_OWN];
      if (at >= 0 && at < there) {
        const gain = score(row, at);
        const corner = row === 0 || column + shift === 0 ? 0 : (before[column + shift - 1] ?? 0);
        if (gain > 0 && corner + gain >= best) [best, way] = [corner + gain, PAIR];
      }
      now[column] = best;
      ways[row * width + column] = way;
    }
    [before, now] = [now, before];
  }
  for (let [row, at] = [own - 1, first(own - 1) + width - 1]; row >= 0;) {
    const column = Math.min(width - 1, at - first(row));
    if (column < 0) break;
    const way = ways[row * width + column];
    at = first(row) + column;
    if (way === PAIR) pairs[row] = at;
    if (way !== SKIP_THERE) row--;
    if (way !== SKIP_OWN) at--;
  }
  return pairs;
}
