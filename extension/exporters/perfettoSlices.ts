import type { Layer, LifetimeBatch } from '../protocol/trace';
import { isAlive, layerOf } from './exportInput';
import { Heap } from './heap';

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
  private readonly heaps = new Map<Layer, Heap<Slice>>();

  constructor(private readonly mostPerLayer: number) {}

  add(batch: LifetimeBatch): void {
    for (let row = 0; row < batch.rows; row++) {
      this.total++;
      const layer = layerOf(batch, row);
      let heap = this.heaps.get(layer);
      if (heap === undefined) this.heaps.set(layer, (heap = new Heap<Slice>(slice => slice.bytes)));
      if (heap.size >= this.mostPerLayer && (heap.top()?.bytes ?? 0) >= (batch.bytes[row] ?? 0)) continue;
      heap.push(sliceOf(batch, row, layer));
      if (heap.size > this.mostPerLayer) heap.pop();
    }
  }

  /** By process, thread and layer. */
  groups(): Slice[][] {
    const groups = new Map<string, Slice[]>();
    for (const heap of this.heaps.values()) {
      for (const slice of heap.all()) {
        const key = `${slice.process} ${slice.thread} ${slice.layer}`;
        const group = groups.get(key);
        if (group === undefined) groups.set(key, [slice]);
        else group.push(slice);
      }
    }
    return [...groups.values()];
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
  const end = (lane: Lane): number => lane.at(-1)?.endNs ?? 0;
  const lanes: Lane[] = [];
  const open = new Heap<Lane>(end);
  for (const slice of [...slices].sort((a, b) => a.beginNs - b.beginNs)) {
    const free = open.top();
    if (free !== undefined && end(free) <= slice.beginNs) {
      open.pop();
      free.push(slice);
      if (!Number.isNaN(slice.endNs)) open.push(free);
    } else {
      const lane = [slice];
      lanes.push(lane);
      if (!Number.isNaN(slice.endNs)) open.push(lane);
    }
  }
  return lanes;
}
