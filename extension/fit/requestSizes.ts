import { firstWhere } from '../base/bisect';
import { remembered } from '../base/maps';
import { categoryOf, passOf, type RecordedRun } from './recordedRun';

// A trace has the size of the block that an allocation got. A block of over 1 MiB may be up to 1 MiB bigger than what was requested,
// as PyTorch does not split off so small a rest. Under other settings, and with another batch, it is the request that counts.

/** Blocks are multiples of so many bytes. */
export const ROUNDING = 512;
/** kSmallSize of c10/cuda/CUDACachingAllocator.cpp: so much is not split off. */
export const REST_BYTES = 2 ** 20;
/** A parameter in another precision. */
const PRECISIONS = [1, 2, 1 / 2];
/** Numbers of tensors of one batch, as multiples of each other's. */
const RATIOS = [2, 3, 4, 1 / 2, 1 / 3, 1 / 4];
const LARGE_BYTES = 2 ** 24;

/**
 * By allocation, what was requested as far as others show it: a parameter for what the optimizer holds of it, the same line of layers
 * that are alike, else what most tensors of the step have that fits into the block. `exact`: by allocation, whether the block is
 * what was requested.
 */
export function requestSizes(run: RecordedRun, exact: Uint8Array): Float64Array {
  const sizes = Float64Array.from(run.bytes);
  const isOpen = (at: number): boolean => exact[at] !== 1 && (run.bytes[at] ?? 0) > REST_BYTES;
  const open = Array.from({ length: run.count }, (_, at) => at).filter(isOpen);
  const [likes, always] = groupsOf(run);
  const steps = exactSizes(run, exact);
  const parameters = new Map<number, number[]>();
  const elected = new Map<string, number | undefined>();
  const constants = new Map<readonly number[], number>();
  /** The size of all whose is known; 0: they differ. */
  const constantOf = (group: readonly number[]): number =>
    remembered(constants, group, () => {
      const known = new Set(group.filter(at => !isOpen(at)).map(at => run.bytes[at] ?? 0));
      return known.size === 1 ? Math.max(...known) : 0;
    });
  const requestOf = (at: number): number => {
    const bytes = run.bytes[at] ?? 0;
    // A request of 1 MiB or less lies in small segments, in a block as large as it.
    const fits = (size: number): boolean => size <= bytes && size >= bytes - REST_BYTES && size > REST_BYTES;
    const own = parameters.get(run.module[at] ?? 0) ?? [];
    const copied = isCopy(run, at) ? own.find(fits) : undefined;
    if (copied !== undefined) return copied;
    const alike = (likes.get(at) ?? []).filter(other => fits(run.bytes[other] ?? 0));
    const known = alike.find(other => !isOpen(other));
    if (known !== undefined) return run.bytes[known] ?? bytes;
    const constant = constantOf(always.get(at) ?? []);
    if (fits(constant)) return constant;
    const least = Math.min(bytes, ...alike.map(other => run.bytes[other] ?? bytes));
    const step = run.step[at] ?? 0;
    const precisions = own.flatMap(size => PRECISIONS.map(times => size * times)).sort((a, b) => a - b);
    const near = nearestBelow(precisions, least);
    if (fits(near)) return near;
    const vote = (): number | undefined => {
      const counts = steps.get(step) ?? new Map<number, number>();
      const of = (ratios: readonly number[]): number | undefined =>
        mostVotes(counts, ratios, Math.max(bytes - REST_BYTES, REST_BYTES + 1), least);
      return of([1]) ?? (bytes < LARGE_BYTES ? undefined : of(RATIOS));
    };
    return remembered(elected, `${step} ${least} ${bytes}`, vote) ?? least;
  };
  const isParameter = (at: number): boolean => categoryOf(run, at) === 'parameter';
  for (const at of open) if (isParameter(at)) sizes[at] = requestOf(at);
  for (let at = 0; at < run.count; at++)
    if (isParameter(at)) remembered(parameters, run.module[at] ?? 0, () => []).push(sizes[at] ?? 0);
  for (const at of open) if (!isParameter(at)) sizes[at] = requestOf(at);
  return sizes;
}

/** What is as large as the parameter that it is of: gradients, and what the optimizer holds and makes. */
const isCopy = (run: RecordedRun, at: number): boolean =>
  ['gradient', 'optimizer'].includes(categoryOf(run, at)) || passOf(run, at) === 'optimizer';

/** For each allocation over 1 MiB those with the same line, module but for its number in a list, and place in the call: of its step, of all steps. */
function groupsOf(run: RecordedRun): [Map<number, number[]>, Map<number, number[]>] {
  const layers = run.modules.map(path => path.replace(/(^|\.)\d+(?=\.|$)/g, '$1*'));
  const before = new Map<string, number>();
  const groups = new Map<string, number[]>();
  const [ofStep, ofAll] = [new Map<number, number[]>(), new Map<number, number[]>()];
  for (let at = 0; at < run.count; at++) {
    const [step, module, site] = [run.step[at] ?? 0, run.module[at] ?? 0, run.site[at] ?? 0];
    const own = `${step} ${module} ${site}`;
    const place = before.get(own) ?? 0;
    before.set(own, place + 1);
    if ((run.bytes[at] ?? 0) <= REST_BYTES) continue;
    const key = `${layers[module] ?? ''} ${site} ${place}`;
    for (const [to, name] of [
      [ofStep, `${step} ${key}`],
      [ofAll, key],
    ] as const) {
      const group = remembered(groups, name, () => []);
      group.push(at);
      to.set(at, group);
    }
  }
  return [ofStep, ofAll];
}

/** By step the sizes that are known to be requests, with how many have each. */
function exactSizes(run: RecordedRun, exact: Uint8Array): Map<number, Map<number, number>> {
  const steps = new Map<number, Map<number, number>>();
  for (let at = 0; at < run.count; at++) {
    const bytes = run.bytes[at] ?? 0;
    if (exact[at] !== 1 || bytes <= REST_BYTES) continue;
    const counts = remembered(steps, run.step[at] ?? 0, () => new Map<number, number>());
    counts.set(bytes, (counts.get(bytes) ?? 0) + 1);
  }
  return steps;
}

/** The size within bounds that the most tensors have, or would have with so many times as many numbers. */
function mostVotes(
  counts: Map<number, number>,
  ratios: readonly number[],
  least: number,
  most: number,
): number | undefined {
  const votes = new Map<number, number>();
  for (const [bytes, count] of counts)
    for (const ratio of ratios) {
      const size = Math.ceil((bytes * ratio) / ROUNDING) * ROUNDING;
      if (size >= least && size <= most) votes.set(size, (votes.get(size) ?? 0) + count);
    }
  const [best] = [...votes].toSorted(([, a], [, b]) => b - a);
  return best?.[0];
}

function nearestBelow(sorted: readonly number[], bytes: number): number {
  return sorted[firstWhere(sorted.length, at => (sorted[at] ?? 0) > bytes) - 1] ?? 0;
}
