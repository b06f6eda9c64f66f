import type { Layer, LifetimeBatch } from '../protocol/trace';
import { firstWhere } from '../base/bisect';
import { groupBy } from '../base/maps';
import { isAlive, layerOf } from './exportInput';

/** An allocation that is drawn. */
export interface Slice {
  process: number;
  thread: number;
  layer: Layer;
  device: number;
  site: number;
  address: bigint;
  bytes: number;
  beginNs: number;
  /** NaN: alive. */
  endNs: number;
}
/** Slices that follow each other without overlap. */
export type Lane = Slice[];

/** Keeps the biggest allocations of each layer and counts the others. */
export class BiggestSlices {
  total = 0;
  private readonly kept = new Map<Layer, Slice[]>();

  constructor(private readonly mostPerLayer: number) {}

  add(batch: LifetimeBatch): void {
    this.total += batch.rows;
    for (const [layer, rows] of groupBy(Array(batch.rows).keys(), row => layerOf(batch, row))) {
      const kept = this.kept.get(layer) ?? [];
      const least = kept[this.mostPerLayer - 1]?.bytes ?? -1;
      const bigger = rows.filter(row => (batch.bytes[row] ?? 0) > least).map(row => sliceOf(batch, row, layer));
      this.kept.set(layer, [...kept, ...bigger].sort((a, b) => b.bytes - a.bytes).slice(0, this.mostPerLayer));
    }
  }

  /** By process, thread and layer. */
  groups(): Slice[][] {
    const slices = [...this.kept.values()].flat();
    return [...groupBy(slices, ({ process, thread, layer }) => `${process} ${thread} ${layer}`).values()];
  }
}

function sliceOf(batch: LifetimeBatch, row: number, layer: Layer): Slice {
  return {
    layer,
    process: batch.process[row] ?? 0,
    thread: batch.thread[row] ?? -1,
    device: batch.device[row] ?? -1,
    site: batch.site[row] ?? 0,
    address: batch.address[row] ?? 0n,
    bytes: batch.bytes[row] ?? 0,
    beginNs: batch.beginNs[row] ?? 0,
    endNs: isAlive(batch, row) ? NaN : (batch.endNs[row] ?? 0),
  };
}

/** As few lanes as hold the slices without overlap. */
export function lanesOf(slices: readonly Slice[]): Lane[] {
  const lanes: Lane[] = [];
  // Those whose last slice ends, by its end.
  const open: { lane: Lane; endNs: number }[] = [];
  for (const slice of [...slices].sort((a, b) => a.beginNs - b.beginNs)) {
    const { beginNs, endNs } = slice;
    const [first] = open;
    const lane = first !== undefined && first.endNs <= beginNs ? first.lane : [];
    if (lane.length === 0) lanes.push(lane);
    else open.shift();
    lane.push(slice);
    if (Number.isNaN(endNs)) continue;
    const place = firstWhere(open.length, at => (open[at]?.endNs ?? 0) > endNs);
    open.splice(place, 0, { lane, endNs });
  }
  return lanes;
}
