import { groupBy } from '../../base/maps';
import type { Timeline, Totals, TraceInfo, TraceSource } from '../../protocol/trace';
import { siteRows } from '../../protocol/trace';
import type { AfterSteps } from '../../protocol/verdicts';
import { fewestRecords } from '../series/records';
import { at, sum } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import { siteText } from '../sites/site';

// What a program does behind its last step, such as a test of what it trained, no step judges: memory that piled up there is shown as it is.

/** Parts of the time from the last step to the peak: a part that has many rounds of a loop shows what stays between them. */
const PARTS = 8;
const MOST_SITES = 64;
const POINTS = 256;

/** Memory of the process that piled up behind its last step; null: not much, or the step that runs is no longer than others. */
export function afterSteps(source: TraceSource, info: TraceInfo, process: number): AfterSteps | null {
  const steps = info.steps.find(one => one.process === process);
  if (steps === undefined || steps.count === 0 || steps.source === 'time') return null;
  const endNs = steps.lastEndNs;
  const isLate = ({ layer, peakNs, ...total }: Totals): boolean =>
    total.process === process && layer === 'tensor' && peakNs > endNs;
  const bytes = Math.max(0, ...info.totals.filter(isLate).map(total => pileOf(source, total, endNs)));
  const ended = info.processes[process]?.ended ?? true;
  if (bytes === 0 || (!ended && info.durationNs - endNs <= longestStep(source, process))) return null;
  const line = risingLine(source, process);
  return line === null ? null : { process, bytes, line: line.line, lineBytes: Math.min(bytes, line.lineBytes) };
}

/** What lies between rounds on the way to the peak, beyond all that was before; 0: not much. */
function pileOf(source: TraceSource, { process, device, peakNs }: Totals, endNs: number): number {
  const levels = (fromNs: number, toNs: number): Timeline =>
    source.timeline({ series: 'tensor', process, device, fromNs, toNs, buckets: PARTS });
  const before = highest(levels(0, endNs), 2);
  const bytes = highest(levels(endNs, peakNs), 1) - before;
  return bytes > Math.max(T.part * before, T.smallBytes) ? bytes : 0;
}

/** Of the timeline's columns: 1 is the least in each part, 2 the most. */
function highest(timeline: Timeline, column: 1 | 2): number {
  return timeline.reduce((most, value, i) => (i % 4 === column ? Math.max(most, value) : most), 0);
}

function longestStep(source: TraceSource, process: number): number {
  const { endNs } = source.siteSeries({ process, layer: 'tensor', from: 0, to: 0, points: POINTS });
  return endNs.reduce((most, end, i) => (i === 0 ? most : Math.max(most, end - at(endNs, i - 1))), 0);
}

/** The line that rose most beyond what it had in any step, in many allocations. */
function risingLine(source: TraceSource, process: number): Pick<AfterSteps, 'line' | 'lineBytes'> | null {
  const query = { layer: 'tensor', groupBy: 'site', sort: 'peakBytes', descending: true, includeDead: true } as const;
  const rows = siteRows(source.sites({ ...query, process, from: 0, to: MOST_SITES }));
  const ids = rows.map(({ id }) => id);
  const series = source.siteSeries({ process, layer: 'tensor', sites: ids, from: 0, to: ids.length, points: POINTS });
  const width = series.last.length;
  const stepsIn = series.last.map((last, point) => last - at(series.first, point) + 1);
  const rises = rows.flatMap(({ id, peakBytes, allocations }) => {
    const row = series.id.indexOf(id);
    if (row < 0) return [];
    const inSteps = (values: Float64Array): Float64Array => values.subarray(row * width, (row + 1) * width);
    const made = allocations - sum([...inSteps(series.stepAllocations)]);
    const bytes = peakBytes - Math.max(0, ...inSteps(series.maxBytes));
    // A step that is bigger than those before makes no more blocks than they did.
    const usual = Math.max(0, ...inSteps(series.stepAllocations).map((all, point) => all / at(stepsIn, point)));
    return made > usual && made >= T.few + fewestRecords() && bytes > 0
      ? [{ line: siteText(source.site(id)), bytes }]
      : [];
  });
  const lines = [...groupBy(rises, ({ line }) => line)].map(([line, own]) => {
    return { line, lineBytes: sum(own.map(({ bytes }) => bytes)) };
  });
  return lines.sort((a, b) => b.lineBytes - a.lineBytes)[0] ?? null;
}
