// Two moments beside each other, of one trace or of two.
import {
  index,
  indexOrAll,
  nothing,
  object,
  oneOf,
  within,
  type Check,
  type Checks,
  type Fielded,
} from './fieldChecks';
import type { Mark } from '../marks';
import { LAYERS, type Frame } from '../trace';
import type { EndMoment } from './moment';

/** A moment of a trace. */
export interface ComparePoint {
  /** 0: the one that the page shows; else the number of another one of the window's. */
  trace: number;
  /** Nanoseconds of that session; null: the end of the newest step, else now, or the moment at which an ended trace is shown. */
  timeNs: number | null;
}

export type CompareQuery = Fielded<typeof COMPARE>;
export type CompareBy = CompareQuery['by'];

/** The line as B has it, else A; empty without a Python line. */
export interface ComparedRow extends Frame {
  /** Line in A, where the same code stands on another one, as after an edit; else null. */
  movedFrom: number | null;
  /** `file:line function`, innermost first; empty where lines are compared. */
  stack: string[];
  bytesA: number;
  bytesB: number;
  countA: number;
  countB: number;
}

export interface Comparison {
  /** The biggest differences first. */
  rows: ComparedRow[];
  total: number;
  /** Sums over all rows. */
  bytesA: number;
  bytesB: number;
  /** Rows that hold something in B alone, in A alone. */
  added: number;
  gone: number;
  /** The only file of the program that A alone has, and the only one that B alone has: taken for one file; null: there are no such two. */
  renamed: { from: string; to: string } | null;
}

/** A trace that can be compared with, and moments of it that have a name. */
export interface ComparedTrace {
  trace: number;
  title: string;
  /** Which of the runs of this title, from 1; absent: it is the only one that there was. */
  run?: number;
  /** In words: `stopped · 1 leak`. */
  status?: string;
  /** Real time of its begin; 0: not known. */
  startMs: number;
  live: boolean;
  marks: Mark[];
  /** Ends of steps, newest first; not all where there are many. */
  steps: { step: number; endNs: number }[];
  /** When most of the listed layer was alive; null: never anything. */
  peakNs: number | null;
  /** The moment that is shown instead of an end that holds little. */
  ending: EndMoment | null;
  /** The last step that ended in it and in the shown run; null: there is none, or it is the shown run. */
  common: { step: number; ownNs: number; shownNs: number } | null;
}

/** A run beside the one of the same program before it. */
export interface RunComparison {
  /** `bad`: a leak is still there, or new, or the peak is higher; `early`: after too few steps; `unknown`: not judged. */
  verdict: 'good' | 'bad' | 'early' | 'unknown';
  /** What became of each leak, and the peak. */
  sentences: string[];
}

export interface CompareRequests {
  /** The shown run beside an earlier one; null: there is nothing to compare, or they cannot be compared. */
  compareRuns(of: { before: number }): RunComparison | null;
  /** The shown trace first. */
  compareTraces(): ComparedTrace[];
  /** Lets the user choose a saved trace; its number, or null. */
  openOtherTrace(): number | null;
  compare(query: CompareQuery): Comparison;
}

const MOST_ROWS = 1_000;

/** Null stays null. */
const POINT: Check<ComparePoint> = object({
  trace: index,
  timeNs: (value, name) => (value === null ? null : index(value, name)),
});

const COMPARE = {
  a: POINT,
  b: POINT,
  /** What is put beside each other: the Python line that allocates, or the whole stack. */
  by: oneOf('line', 'stack'),
  layer: oneOf(...LAYERS),
  /** Of the shown trace; -1: all. Where two traces are compared, both are taken whole. */
  process: indexOrAll,
  device: indexOrAll,
  /** At most so many. */
  rows: within(0, MOST_ROWS),
};

export const compareChecks: Checks<CompareRequests> = {
  compareRuns: object({ before: index }),
  compareTraces: nothing,
  openOtherTrace: nothing,
  compare: object(COMPARE),
};

/** A moment as one word, `0:12000000` or `3:now`. */
export function pointText({ trace, timeNs }: ComparePoint): string {
  return `${trace}:${timeNs ?? 'now'}`;
}

/** The moment of such a word; null: it is none. */
export function pointOf(text: string): ComparePoint | null {
  const match = /^(\d{1,9}):(now|\d{1,16})$/.exec(text);
  if (!match) return null;
  return { trace: Number(match[1]), timeNs: match[2] === 'now' ? null : Number(match[2]) };
}
