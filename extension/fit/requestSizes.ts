import { firstWhere } from '../base/bisect';
import { remembered } from '../base/maps';

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
export const REST_BYTES = 2 ** 20;
/** The same tensor in another precision. */
const PRECISIONS = [1, 2, 1 / 2];

/**
 * By allocation, what was requested as far as others show it: the same line of layers that are alike, else another tensor of the step
 * that fits into the block. `exact`: by allocation, whether the block is what was requested.
 */
export function requestSizes(run: Blocks, exact: Uint8Array): Float64Array {
  const sizes = Float64Array.from(run.bytes);
  const isOpen = (at: number): boolean => exact[at] !== 1 && (run.bytes[at] ?? 0) > REST_BYTES;
  const open = Array.from({ length: run.count }, (_, at) => at).filter(isOpen);
  const likes = groupsOf(run);
  const [steps, modules] = exactSizes(run, exact);
  for (const at of open) {
    const bytes = run.bytes[at] ?? 0;
    const fits = (size: number): boolean => size <= bytes && size >= bytes - REST_BYTES;
    const alike = (likes.get(at) ?? []).filter(other => fits(run.bytes[other] ?? 0));
    const known = alike.find(other => !isOpen(other));
    const least = Math.min(bytes, ...alike.map(other => run.bytes[other] ?? bytes));
    if (known === undefined) {
      const beside = [modules.get(moduleOf(run, at)), steps.get(stepOf(run, at))];
      sizes[at] = beside.map(sorted => nearestBelow(sorted ?? [], least)).find(fits) ?? least;
    } else {
      sizes[at] = run.bytes[known] ?? bytes;
    }
  }
  return sizes;
}

/** For each allocation over 1 MiB those of its step with the same line, module but for its number in a list, and place in the call. */
function groupsOf(run: Blocks): Map<number, number[]> {
  const layers = run.modules.map(path => path.replace(/(^|\.)\d+(?=\.|$)/g, '$1*'));
  const before = new Map<string, number>();
  const groups = new Map<string, number[]>();
  const out = new Map<number, number[]>();
  for (let at = 0; at < run.count; at++) {
    const [step, module, site] = [run.step[at] ?? 0, run.module[at] ?? 0, run.site[at] ?? 0];
    const own = `${step} ${module} ${site}`;
    const place = before.get(own) ?? 0;
    before.set(own, place + 1);
    if ((run.bytes[at] ?? 0) <= REST_BYTES) continue;
    const key = `${step} ${layers[module] ?? ''} ${site} ${place}`;
    const group = remembered(groups, key, () => []);
    group.push(at);
    out.set(at, group);
  }
  return out;
}

const stepOf = (run: Blocks, at: number): string => `${run.step[at]}`;
const moduleOf = (run: Blocks, at: number): string => `${run.step[at]} ${run.module[at]}`;
type Sizes = Map<string, number[]>;

/** The sizes that are known to be requests, in order: by step, and by step and module, there in other precisions too. */
function exactSizes(run: Blocks, exact: Uint8Array): [Sizes, Sizes] {
  const [steps, modules] = [new Map<string, Set<number>>(), new Map<string, Set<number>>()];
  for (let at = 0; at < run.count; at++) {
    const bytes = run.bytes[at] ?? 0;
    if (exact[at] !== 1 || bytes <= REST_BYTES) continue;
    const add = (to: Map<string, Set<number>>, key: string, sizes: readonly number[]): void => {
      const known = remembered(to, key, () => new Set());
      for (const size of sizes) known.add(size);
    };
    add(steps, stepOf(run, at), [bytes]);
    add(
      modules,
      moduleOf(run, at),
      PRECISIONS.map(times => times * bytes),
    );
  }
  const sorted = (all: Map<string, Set<number>>): Sizes =>
    new Map([...all].map(([key, known]) => [key, [...known].sort((a, b) => a - b)]));
  return [sorted(steps), sorted(modules)];
}

function nearestBelow(sorted: readonly number[], bytes: number): number {
  return sorted[firstWhere(sorted.length, at => (sorted[at] ?? 0) > bytes) - 1] ?? 0;
}
