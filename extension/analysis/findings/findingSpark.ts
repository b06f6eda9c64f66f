import type { TraceSource } from '../../protocol/trace';
import type { Finding } from '../../protocol/verdicts';
import { at } from '../series/statistics';

const POINTS = 48;
const MOST_SITES = 64;

/** Live bytes of a finding's lines at the ends of up to 48 spans of steps, oldest first. */
export function findingSpark(source: TraceSource, { process, layer, sites }: Finding): number[] {
  if (sites.length === 0) return [];
  const some = sites.slice(0, MOST_SITES);
  const window = source.siteSeries({ process, layer, sites: some, from: 0, to: some.length, points: POINTS });
  const points = window.last.length;
  return Array.from({ length: points }, (_, point) => {
    let bytes = 0;
    for (let row = 0; row < window.rows; row++) bytes += at(window.liveBytes, row * points + point);
    return bytes;
  });
}
