import type { Totals, TraceInfo } from '../../protocol/trace';

/** `gmt_note_code` of native/wire/layout.h: the tracer came to a program that ran already, or its recording began late. */
const ATTACHED = 10;
const STARTED = 13;
const CAME_LATE: ReadonlySet<number> = new Set([ATTACHED, STARTED]);

/** The tracer came to a program that ran already. */
export function attachedLate(info: TraceInfo, total: Totals): boolean {
  return info.processes[total.process]?.notes.some(({ code }) => code === ATTACHED) ?? false;
}

/**
 * Frees of blocks whose allocation was not recorded. Where the tracer came late they are frees of what was there before; elsewhere
 * there should be none.
 */
export function beforeAttachFrees(info: TraceInfo, total: Totals): number {
  const notes = info.processes[total.process]?.notes ?? [];
  return notes.some(({ code }) => CAME_LATE.has(code)) ? total.unmatchedFrees : 0;
}
