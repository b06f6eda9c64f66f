import { remembered } from '../base/maps';
import { LAYERS, type Layer, type TraceInfo } from '../protocol/trace';
import { layerOf, type ExportInput } from './exportInput';

/** Allocations with one stack, thread, process, device and layer, summed. Sizes are bytes. */
export type SiteSum = typeof NOTHING & {
  layer: Layer;
  site: number;
  process: number;
  thread: number;
  device: number;
};

/** `peak…`: what was alive when its process held most on the device: the sums over all make up the peak. */
const NOTHING = { liveBytes: 0, liveCount: 0, peakBytes: 0, peakCount: 0, allocatedBytes: 0, allocations: 0 };

/** Sums all selected allocations. Memory grows with stacks and threads, not with allocations. */
export async function sumSites(input: ExportInput): Promise<SiteSum[]> {
  const sums = new Map<string, SiteSum>();
  const peakOf = peakFinder(input.info);
  for await (const batch of input.batches) {
    for (let row = 0; row < batch.rows; row++) {
      const layer = layerOf(batch, row);
      const [site, process] = [batch.site[row] ?? 0, batch.process[row] ?? 0];
      const [thread, device] = [batch.thread[row] ?? -1, batch.device[row] ?? -1];
      const key = `${layer} ${site} ${process} ${thread} ${device}`;
      const sum = remembered(sums, key, () => ({ ...NOTHING, layer, site, process, thread, device }));
      const peakNs = peakOf(process, device, layer);
      add(sum, batch.bytes[row] ?? 0, batch.beginNs[row] ?? 0, batch.endNs[row] ?? NaN, peakNs);
    }
  }
  return [...sums.values()];
}

function add(sum: SiteSum, bytes: number, beginNs: number, endNs: number, peakNs: number): void {
  const alive = Number.isNaN(endNs);
  sum.allocations++;
  sum.allocatedBytes += bytes;
  if (alive) {
    sum.liveCount++;
    sum.liveBytes += bytes;
  }
  if (beginNs <= peakNs && (alive || endNs > peakNs)) {
    sum.peakCount++;
    sum.peakBytes += bytes;
  }
}

function peakFinder(info: TraceInfo): (process: number, device: number, layer: Layer) => number {
  const moments = new Map(info.totals.map(entry => [`${entry.process} ${entry.device} ${entry.layer}`, entry.peakNs]));
  return (process, device, layer) => moments.get(`${process} ${device} ${layer}`) ?? NaN;
}

/** The layers with sums: tensors first, where there are any. */
export function layersOf(sums: readonly SiteSum[]): Layer[] {
  return LAYERS.filter(layer => sums.some(sum => sum.layer === layer));
}
