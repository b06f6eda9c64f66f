// A trace has the size of the block that an allocation got. A block of over 1 MiB may be up to 1 MiB bigger than what was requested,
// as PyTorch does not split off so small a rest. Under other settings, and with another batch, it is the request that counts.

/** Columns of a run (recordedRun.ts). */
interface Blocks {
  count: number;
  bytes: Float64Array;
  step: Float64Array;
  module: Uint32Array;
  modules: string[];
  site: Uint32Array;
}

/** kSmallSize of c10/cuda/CUDACachingAllocator.cpp: so much is not split off. */
const REST_BYTES = 2 ** 20;

/** By allocation, what was requested as far as its like shows it: the same line in the same step of layers that are alike. */
export function requestSizes(run: Blocks): Float64Array {
  const sizes = Float64Array.from(run.bytes);
  for (const alike of groupsOf(run).values()) {
    const sorted = alike.toSorted((a, b) => (run.bytes[a] ?? 0) - (run.bytes[b] ?? 0));
    let least = 0;
    for (const at of sorted) {
      const bytes = run.bytes[at] ?? 0;
      while ((run.bytes[sorted[least] ?? at] ?? 0) < bytes - REST_BYTES) least++;
      sizes[at] = run.bytes[sorted[least] ?? at] ?? bytes;
    }
  }
  return sizes;
}

/** Allocations over 1 MiB by step, line, module but for its number in a list, and how many of them came before in its call. */
function groupsOf(run: Blocks): Map<string, number[]> {
  const layers = run.modules.map(path => path.replace(/(^|\.)\d+(?=\.|$)/g, '$1*'));
  const before = new Map<string, number>();
  const groups = new Map<string, number[]>();
  for (let at = 0; at < run.count; at++) {
    const [step, module, site] = [run.step[at] ?? 0, run.module[at] ?? 0, run.site[at] ?? 0];
    const own = `${step} ${module} ${site}`;
    const place = before.get(own) ?? 0;
    before.set(own, place + 1);
    if ((run.bytes[at] ?? 0) <= REST_BYTES) continue;
    const key = `${step} ${layers[module] ?? ''} ${site} ${place}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [at]);
    else group.push(at);
  }
  return groups;
}
