// Moments of a run that somebody gave a name.

export interface Mark {
  name: string;
  /** Time of the session, ns. */
  timeNs: number;
}

/** What a name may have at most. */
export const MAX_MARK_NAME = 200;

/** The marks in the launcher's facts (`TraceInfo.session`), earliest first. What is none is left out. */
export function marksOf(session: Record<string, unknown>): Mark[] {
  const { marks } = session;
  if (!Array.isArray(marks)) return [];
  return marks
    .filter(isMark)
    .map(({ name, timeNs }) => ({ name, timeNs }))
    .sort((a, b) => a.timeNs - b.timeNs);
}

function isMark(value: unknown): value is Mark {
  if (typeof value !== 'object' || value === null) return false;
  const { name, timeNs } = value as Partial<Mark>;
  return typeof name === 'string' && typeof timeNs === 'number' && Number.isFinite(timeNs) && timeNs >= 0;
}
