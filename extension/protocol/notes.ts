import type { ProcessSteps, StepSource } from './trace';
import type { Note, ProcessInfo, TraceInfo } from './trace';

/** Codes of `gmt_note_code` (native/wire/layout.h) that mean that something is missing from the trace; 0: the reader's own. */
const WARNINGS: ReadonlySet<number> = new Set([0, 1, 2, 3, 6, 10, 12, 13]);

/** False for what only describes how the trace was made. */
export function isWarning(note: Note): boolean {
  return WARNINGS.has(note.code);
}

/** What is missing is what the user left out: recording was off. */
export const isChosen = (note: Note): boolean => note.code === STARTED;

/** Its text begins with a time, and becomes a mark. */
export const RECOMPILED = 18;
/** A run of a notebook's cell: notebookCells.ts. */
export const CELL = 16;
/** The process's place in a job of many: rank.ts. */
export const JOB = 17;
const HIDDEN_GRAPHS = 19;
const STEPS = 8;
const STARTED = 13;
const SNAPSHOT = 11;

/** Made of a memory snapshot of PyTorch: its program may still run, has no number, and cannot be queried. */
export function isSnapshot(process: Pick<ProcessInfo, 'notes'> | undefined): boolean {
  return process?.notes.some(({ code }) => code === SNAPSHOT) ?? false;
}
/** Its PyTorch does not show what autograd graphs hold: what hangs on a graph alone looks as if nobody had it. */
export function hidesGraphs(process: Pick<ProcessInfo, 'notes'> | undefined): boolean {
  return process?.notes.some(({ code }) => code === HIDDEN_GRAPHS) ?? false;
}
/** Where CUPTI and PyTorch were found, which the JSON has, and the source of the steps, which stands beside their count. */
const QUIET: ReadonlySet<number> = new Set([4, 5, STEPS, RECOMPILED, CELL, JOB]);

/** Whether a table shows it; `final`: the last one, which also shows how the trace was made. */
export function isShown(note: Note, final: boolean): boolean {
  return isWarning(note) || (final && !QUIET.has(note.code));
}

export type ReportedSource = StepSource | 'program';
/** Where the steps of a process are from, as reports name it: not all that are marked are an optimizer's. */
export function reportedSource(
  { processes }: TraceInfo,
  { process, source }: Pick<ProcessSteps, 'process' | 'source'>,
): ReportedSource {
  const marked = processes[process]?.notes.some(({ code, text }) => code === STEPS && text === 'program');
  return source === 'optimizer' && marked === true ? 'program' : source;
}
