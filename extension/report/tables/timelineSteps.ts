import { searchPauses } from '../../analysis/findings/kinds/holderAnswers';
import type { TimelineSteps } from '../../protocol/requests/timelineRequests';
import { STEP_LOST_EVENTS, type StepAxis, type TraceSource } from '../../protocol/trace';

const MOST_PROCESSES = 16;

/** Steps for the timeline's axis, of the process that has most of them, and what the axes of all processes mark. */
export function timelineSteps(source: TraceSource, points: number): TimelineSteps {
  const steps = source.info().steps.filter(one => one.count > 0);
  const counted = steps.filter(one => one.source !== 'time').sort((a, b) => b.count - a.count);
  // An optimizer's steps are surer than a line that comes back.
  const known = counted.find(one => one.source === 'optimizer') ?? counted[0];
  const lost: [number, number][] = [];
  const collections: number[] = [];
  let axis: TimelineSteps['axis'] = null;
  for (const { process } of steps.slice(0, MOST_PROCESSES)) {
    const series = source.ledgerSeries({ process, device: -1, points });
    addMarks(series, lost, collections);
    if (process !== known?.process) continue;
    const { first, last, endNs } = series;
    axis = { process, first, last, endNs };
  }
  return {
    axis,
    lost: spans(lost),
    collections: Float64Array.from(collections).sort(),
    searches: spans(searchPauses(source)),
  };
}

function addMarks(axis: StepAxis, lost: [number, number][], collections: number[]): void {
  axis.endNs.forEach((endNs, i) => {
    if ((axis.flags[i]! & STEP_LOST_EVENTS) !== 0) lost.push([axis.endNs[i - 1] ?? 0, endNs]);
    if (axis.fullCollections[i]! > 0) collections.push(endNs);
  });
}

/** Begin and end in turn; spans that touch become one. */
function spans(all: readonly [number, number][]): Float64Array {
  const out: [number, number][] = [];
  for (const [from, to] of [...all].sort((a, b) => a[0] - b[0])) {
    const last = out[out.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return Float64Array.from(out.flat());
}
