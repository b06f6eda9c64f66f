// Messages between the extension host and the page that shows what this machine can record.
import { isFields } from '../../base/fields';

export interface DoctorLink {
  label: string;
  href: string;
}
export interface DoctorCheck {
  name: string;
  state: 'ok' | 'warning' | 'missing';
  /** What was found. */
  detail: string;
  /** What to do; empty where nothing is to be done. */
  fix: string;
  /** Of the fix: the line to type. */
  command?: string;
  links?: DoctorLink[];
}
export interface DoctorGroup {
  title: string;
  /** One sentence: what is possible. */
  verdict: string;
  possible: boolean;
  checks: DoctorCheck[];
}

export type ToDoctorHost = { type: 'ready' } | { type: 'check' } | { type: 'copy'; text: string };
export type ToDoctorPage =
  | { type: 'checking' }
  | { type: 'checked'; groups: DoctorGroup[] }
  | { type: 'problem'; sentence: string };

const MOST_TEXT = 10_000;

/** The page's message, or null where it is none. */
export function doctorMessage(value: unknown): ToDoctorHost | null {
  if (!isFields(value)) return null;
  const { type, text } = value;
  if (type === 'ready' || type === 'check') return { type };
  return type === 'copy' && typeof text === 'string' && text.length <= MOST_TEXT ? { type, text } : null;
}
