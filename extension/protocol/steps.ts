// Memory by training step: what verdicts are made of. Steps of a process are numbered from 1; sizes are bytes, times are
// nanoseconds of the session, as in trace.ts.
export * from './answers.gen';

/** Recording was off for a part of the step. */
export const STEP_PAUSED = 1;
/** The driver layer was blind for a part of it. */
export const STEP_DRIVER_GAP = 2;
/** Events are missing in it. */
export const STEP_LOST_EVENTS = 4;
