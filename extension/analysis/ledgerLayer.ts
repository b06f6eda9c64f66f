import type { LedgerLayer } from '../protocol/verdicts';
import { at, theilSen } from './statistics';
import { THRESHOLDS as T } from './thresholds';

/** Points of the recent past from which slopes are made. */
const RECENT = 64;

/** A layer's last known bytes, and its growth over the recent steps. */
export function layerOf(steps: readonly number[], values: Float64Array): LedgerLayer {
  const known = steps.flatMap((_, i) => (Number.isNaN(at(values, i)) ? [] : [i])).slice(-RECENT);
  const line = theilSen(
    known.map(i => at(steps, i)),
    known.map(i => at(values, i)),
  );
  const enough = known.length >= T.mostEvents;
  return { bytes: lastKnown(values), bytesPerStep: enough ? (line?.slope ?? null) : null };
}

/** The newest value that is a number; null without one. */
export function lastKnown(values: Float64Array): number | null {
  for (let i = values.length - 1; i >= 0; i--) if (!Number.isNaN(at(values, i))) return at(values, i);
  return null;
}
