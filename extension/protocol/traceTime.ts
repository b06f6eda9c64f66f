/** A moment of a trace as a person names it. */
export type TraceTime = { seconds: number } | { percent: number } | { step: number } | { mark: string } | Peak;
/** Of the run, or of a step; `oom`: when memory ran out last. */
type Peak = 'peak' | 'oom' | { peakOf: number };

const UNITS: Record<string, number> = { ms: 1e-3, s: 1, m: 60, min: 60, h: 3600 };

/** `12.5s`, `500ms`, `2m`, `90%`, `step:120`, `mark:before eval`, `peak`, `peak:120`, `oom`, `12.5` (seconds); null: none of these. */
export function parseTraceTime(text: string): TraceTime | null {
  if (text === 'peak' || text === 'oom') return text;
  const mark = /^mark:(.+)$/.exec(text)?.[1];
  if (mark !== undefined) return { mark };
  const step = /^(step|peak):([1-9]\d{0,9})$/.exec(text);
  if (step !== null) return step[1] === 'step' ? { step: Number(step[2]) } : { peakOf: Number(step[2]) };
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|min|h|%)?$/.exec(text);
  if (match === null) return null;
  const value = Number(match[1]);
  if (match[2] === '%') return value <= 100 ? { percent: value } : null;
  return { seconds: value * (UNITS[match[2] ?? 's'] ?? 1) };
}
