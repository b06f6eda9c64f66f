import type { Totals, TraceInfo } from '../../protocol/trace';

/** `gmt_note_code` of native/wire/layout.h: the tracer came to a program that ran already. */
const NOTE_ATTACHED = 10;

/**
 * Frees of blocks that nobody saw allocated. Where the tracer came late they are frees of what was there before; elsewhere
 * there should be none.
 */
export function beforeAttachFrees(info: TraceInfo, total: Totals): number {
  const notes = info.processes[total.process]?.notes ?? [];
  return notes.some(({ code }) => code === NOTE_ATTACHED) ? total.unmatchedFrees : 0;
}
