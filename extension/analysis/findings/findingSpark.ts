import type { TraceSource } from '../../protocol/trace';
import { isLeak, type Finding } from '../../protocol/verdicts';
import { at } from '../series/statistics';

const POINTS = 48;
/** As many as a row of the table has: the same line has the same curve. */
const DRAWN = 16;
const MOST_SITES = 64;

/** Live bytes of a finding's lines at 16 equal distances of steps, oldest first: far steps are kept together, near ones singly. Empty: they show nothing, as of a failed allocation that no leak led to. */
export function findingSpark(source: TraceSource, finding: Finding): number[] {
  const { process, layer, sites, verdict } = finding;
  if (sites.length === 0 || (verdict === 'oom' && !isLeak(finding))) return [];
  const some = sites.slice(0, MOST_SITES);
  const window = source.siteSeries({ process, layer, sites: some, from: 0, to: some.length, points: POINTS });
  const points = window.last.length;
  const sums = Array.from({ length: points }, (_, point) => {
    let bytes = 0;
    for (let row = 0; row < window.rows; row++) bytes += at(window.liveBytes, row * points + point);
    return bytes;
  });
  return equallySpaced(window.last, sums);
}

/** Values at equal distances between the first and the last of the steps; those between two known ones lie on the line between them. */
export function equallySpaced(steps: Float64Array, values: readonly number[]): number[] {
  const [from, to] = [at(steps, 0), at(steps, steps.length - 1)];
  const count = Math.min(DRAWN, to - from + 1);
  if (values.length < 2 || count < 2) return [...values];
  let next = 1;
  return Array.from({ length: count }, (_, i) => {
    const step = from + (i * (to - from)) / (count - 1);
    while (next < values.length - 1 && at(steps, next) < step) next++;
    const [left, right] = [at(steps, next - 1), at(steps, next)];
    const part = (step - left) / (right - left);
    return at(values, next - 1) * (1 - part) + at(values, next) * part;
  });
}
