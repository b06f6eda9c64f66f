// Memory by training step: what verdicts are made of. Steps of a process are numbered from 1; sizes are bytes, times are
// nanoseconds of the session, as in trace.ts.
import type { Layer } from './answers.gen';

export * from './answers.gen';

/** Recording was off for a part of the step. */
export const STEP_PAUSED = 1;
/** The driver layer was blind for a part of it. */
export const STEP_DRIVER_GAP = 2;
/** Events are missing in it. */
export const STEP_LOST_EVENTS = 4;

export interface SiteSeriesQuery {
  process: number;
  layer: Layer;
  /** Only these, in this order; absent: all that ever had an event, most live bytes at the end of the last step first. */
  sites?: number[];
  /** Window of rows [from, to). */
  from: number;
  to: number;
  /** At most this many points an axis (16 to 2048); steps are merged further where there are more. */
  points: number;
}
export interface LedgerSeriesQuery {
  process: number;
  device: number;
  points: number;
}
