// Moments of a run that have a name.
import { cellRunsOf } from './notebookCells';
import { isFields } from '../base/fields';
import { RECOMPILED } from './notes';
import type { TraceInfo } from './trace';

export interface Mark {
  name: string;
  /** Time of the session, ns. */
  timeNs: number;
}

/** What a name may have at most. */
export const MAX_MARK_NAME = 200;

/** The marks in the launcher's facts, and where torch.compile compiled again, the ends of cells, earliest first. What is none is left out. */
export function marksOf(info: Pick<TraceInfo, 'session' | 'startRealtimeMs' | 'processes'>): Mark[] {
  const { marks } = info.session;
  const recompiled = info.processes.flatMap(({ notes }) => notes.filter(({ code }) => code === RECOMPILED));
  const seen = recompiled.map(({ text }) => ({
    name: text.slice(text.indexOf(' ') + 1),
    timeNs: (Number.parseFloat(text) - info.startRealtimeMs) * 1e6,
  }));
  const cells = cellRunsOf(info).map(({ number, endNs: timeNs }) => ({ name: `In [${number}]`, timeNs }));
  return [...(Array.isArray(marks) ? marks.filter(isMark) : []), ...seen.filter(isMark), ...cells]
    .map(({ name, timeNs }) => ({ name, timeNs }))
    .sort((a, b) => a.timeNs - b.timeNs);
}

function isMark(value: unknown): value is Mark {
  if (!isFields(value)) return false;
  const { name, timeNs } = value;
  return typeof name === 'string' && typeof timeNs === 'number' && Number.isFinite(timeNs) && timeNs >= 0;
}
