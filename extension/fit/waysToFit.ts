import type { NativeAddon } from '../native/native';
import type { OutOfMemory, TraceSource } from '../protocol/trace';
import { grownStep } from './fitRun';
import { changeText, timesText } from './fitText';
import { forecaster, usualChanges, type Forecast } from './forecast';
import { isExact, replayTrace } from './replay';

// What would have fitted where a program ran out of memory, for a report that does not wait for long.

const MOST_ALLOCATIONS = 50_000;
const MOST_MS = 5_000;
const MOST_WAYS = 3;

type Addon = Pick<NativeAddon, 'openLifetimes' | 'replayAllocator' | 'findPools'>;

/**
 * What may be changed, with the largest batch that fits then; the best first. `path`: as `open` takes it. `limitBytes`: what PyTorch could
 * have had. Empty: a replay does not show it.
 */
export async function waysToFit(
  addon: Addon,
  path: string,
  source: TraceSource,
  failure: OutOfMemory,
  limitBytes: number,
): Promise<string[][]> {
  const began = performance.now();
  const info = source.info();
  const totals = info.totals.find(
    each => each.layer === 'tensor' && each.process === failure.process && each.device === failure.device,
  );
  if (totals === undefined || totals.allocations > MOST_ALLOCATIONS) return [];
  const untilStep = grownStep(failure, source);
  const replayed = await replayTrace(addon, path, info, { ...totals, untilStep });
  if ('error' in replayed || !isExact(replayed)) return [];
  const forecast = forecaster(addon, { replayed, other: null, batch: null, limitBytes, outsideBytes: 0 });
  const ways: Forecast[] = [];
  for (const change of usualChanges(replayed)) {
    const way = forecast(change);
    if ('error' in way || performance.now() - began > MOST_MS) return [];
    ways.push(way);
  }
  // Where even the unchanged run would fit, something else than the memory of the GPU was the limit.
  if (ways[0]?.fits !== false && untilStep === undefined) return [];
  return ways
    .filter(({ largestFactor, absent }) => largestFactor !== null && absent.length === 0)
    .toSorted((a, b) => (b.largestFactor ?? 0) - (a.largestFactor ?? 0))
    .slice(0, MOST_WAYS)
    .map(way => [wayText(way), timesText(way.largestFactor ?? 0)]);
}

function wayText(way: Forecast): string {
  const setting = way.allocator === null ? null : `\`${way.allocator}\``;
  return setting === null && way.checkpoint === null && way.parts === 1
    ? 'a smaller batch'
    : changeText({ ...way, allocator: setting }, null);
}
