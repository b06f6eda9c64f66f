// The page of a trace as one file: the answers to what it may request, by keys, instead of an engine.
import { isFields } from '../../base/fields';
import type { Method } from './messages';

/**
 * What the file holds, as JSON: `{"$": index}` stands for one of the values, which are there once each, `{"$Float64Array": […]}` for such an
 * array. The last one has the `session` and the `answers` by `recordedKey`; those about single sites are by their numbers.
 */
export type RecordedValues = unknown[];

export const ARRAYS = { Uint8Array, Int32Array, Uint32Array, Float64Array, BigUint64Array };

/** Times (ns) that are no further apart are one moment. */
const SAME_NS = 200;

const WINDOW = ['from', 'to', 'sort', 'descending', 'filter'];
const SPAN = ['fromNs', 'toNs', 'leastNs', 'buckets'];
/** Parameters that the page applies by itself, to an answer without them. */
const APPLIED: Partial<Record<Method, readonly string[]>> = {
  sites: [...WINDOW, 'includeDead'],
  allocations: [...WINDOW, 'site', 'process', 'device', 'thread'],
  ...{ site: ['id'], freeLines: ['site'], verdicts: ['sites'] },
  ...{ timeline: SPAN, passes: SPAN, ranges: SPAN, peakInside: SPAN, exactPeak: [...SPAN, 'bytes'] },
};

/** The same for requests that have the same recorded answer. */
export function recordedKey(method: Method, params: unknown, moments: readonly number[]): string {
  const named = Object.entries(isFields(params) ? params : {})
    .filter(([name]) => APPLIED[method]?.includes(name) !== true)
    .map(([name, value]) => [name, name === 'moment' ? momentKey(value, moments) : value] as const)
    .filter(([, value]) => value !== undefined && value !== -1)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `${method} ${JSON.stringify(named)}`;
}

/** Absent: it is now. A text: it is none of the recorded ones. */
function momentKey(moment: unknown, moments: readonly number[]): number | string | undefined {
  if (!isFields(moment) || moment.kind === 'now') return undefined;
  const at = moment.kind === 'at' ? nearest(moments, Number(moment.timeNs)) : -1;
  const distance = Math.abs((moments[at] ?? Infinity) - Number(moment.timeNs));
  return distance <= SAME_NS ? at : JSON.stringify(moment);
}

/** Index of the moment that is nearest to a time; -1: there is none. */
export function nearest(moments: readonly number[], timeNs: number): number {
  const distance = (at: number): number => Math.abs((moments[at] ?? Infinity) - timeNs);
  return moments.reduce((best, _, at) => (distance(at) < distance(best) ? at : best), moments.length > 0 ? 0 : -1);
}

/** Each moment once, rising. */
export function distinctMoments(times: readonly number[]): number[] {
  return times
    .map(Math.floor)
    .sort((a, b) => a - b)
    .filter((time, i, all) => i === 0 || time - (all[i - 1] ?? 0) > SAME_NS);
}
