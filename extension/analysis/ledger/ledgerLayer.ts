import type { Layer, TraceInfo, TraceSource } from '../../protocol/trace';
import type { LedgerLayer } from '../../protocol/verdicts';
import { judgeGrowth, type Growth } from '../series/growth';
import { fewestRecords } from '../series/records';
import { at, sum, theilSen } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';

/** A layer's last known bytes, and its growth over the recent steps. */
export function layerOf(steps: readonly number[], values: Float64Array): LedgerLayer {
  const known = steps.flatMap((_, i) => (Number.isNaN(at(values, i)) ? [] : [i])).slice(-T.many);
  const slope = theilSen(
    known.map(i => at(steps, i)),
    known.map(i => at(values, i)),
  );
  const enough = known.length >= fewestRecords();
  return { bytes: lastKnown(values), bytesPerStep: enough && !Number.isNaN(slope) ? slope : null };
}

/** Growth of a layer by `least` bytes, which are worth a word, by the steps at which it is known; null: it does not grow so. */
export function layerGrowth(
  steps: readonly number[],
  values: ArrayLike<number>,
  least: number = T.layerBytes,
): Growth | null {
  const known = steps.flatMap((_, i) => (Number.isNaN(at(values, i)) ? [] : [i]));
  const own = { steps: known.map(i => at(steps, i)), values: known.map(i => at(values, i)), lag: 0 };
  const growth = judgeGrowth(own);
  const [from, to] = [known[growth.from] ?? 0, known[growth.to] ?? 0];
  const grows = growth.state === 'growing' && at(values, to) - at(values, from) >= least;
  return grows ? { ...growth, from, to } : null;
}

/** The newest value that is a number; null without one. */
export function lastKnown(values: Float64Array): number | null {
  return values.findLast(value => !Number.isNaN(value)) ?? null;
}

/** Bytes that the framework's allocators hold on a device now, of all processes or of one; null: none reported. */
export function reservedNow(source: TraceSource, info: TraceInfo, device: number, process?: number): number | null {
  const all = { series: 'reserved', device, fromNs: 0, toNs: info.durationNs + 1, buckets: 1 } as const;
  return source.timeline({ ...all, ...(process !== undefined && { process }) }).at(-1) ?? null;
}

/** Bytes that are alive now in a layer: of all processes and devices, or of one of them. */
export function liveBytes({ totals }: TraceInfo, layer: Layer, of: { process?: number; device?: number }): number {
  const { process, device } = of;
  const own = totals.filter(total => total.layer === layer && total.process === (process ?? total.process));
  return sum(own.map(total => (total.device === (device ?? total.device) ? total.liveBytes : 0)));
}
