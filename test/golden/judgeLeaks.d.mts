import type { Report } from '../../extension/report/documents/reportDocument';

export interface Expected {
  verdict: 'leak' | 'none' | 'oom';
  site?: number | number[];
  holder?: number | number[];
  holderPath?: string;
}
export interface Judged {
  got: Expected['verdict'];
  titles: string[];
  sinceStep: number | null;
  period: number | null;
  site: boolean | null;
  holder: boolean | null;
  path: boolean | null;
  holderText: string;
}
export function judgeLeaks(file: string, expected: Expected, report: Report, early?: boolean): Judged;
