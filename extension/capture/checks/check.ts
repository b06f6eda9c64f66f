/** One thing that was looked at on this machine. */
export interface Check {
  name: string;
  state: 'ok' | 'warning' | 'missing';
  /** What was found. */
  detail: string;
  /** What to do; empty where nothing is to be done. */
  fix: string;
  /** Of the fix: the line to type, where there is one. */
  command?: string;
}

export function ok(name: string, detail: string): Check {
  return { name, state: 'ok', detail, fix: '' };
}
export function warning(name: string, detail: string, fix: string): Check {
  return { name, state: 'warning', detail, fix };
}
export function missing(name: string, detail: string, fix: string): Check {
  return { name, state: 'missing', detail, fix };
}
