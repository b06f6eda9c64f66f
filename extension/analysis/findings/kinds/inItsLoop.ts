import type { OutOfMemory, TraceSource } from '../../../protocol/trace';

/** The fewest that a series of steps has. */
const FEWEST_POINTS = 16;

/** False: the steps are the rounds of a loop, and the line that failed was never a part of them, so that the loop had come to its end. */
export function inItsLoop({ process, layer, site }: OutOfMemory, source: TraceSource): boolean {
  if (source.info().steps.find(steps => steps.process === process)?.source !== 'periodic') return true;
  const series = source.siteSeries({ process, layer, sites: [site], from: 0, to: 1, points: FEWEST_POINTS });
  return series.rows > 0 && series.stepAllocations.some(count => count > 0);
}
