// Requests of the page for the timeline beside its series, and about other moments.
import { index, nothing, object, oneOf, SCOPE, time, timeSpan, within, type Checks, type Fielded } from './fieldChecks';
import { checkMoment, type Moment } from './moment';
import type { Category, Frame, LineSource, NamedRange, PassBegins, PassQuery } from '../trace';
import { LAYERS, SERIES } from '../trace';

export interface TimelineRequests {
  stackedTimeline(query: StackQuery): ColouredStack;
  timelineSteps(query: { points: number }): TimelineSteps;
  passes(query: PassQuery): PassBegins;
  ranges(query: Required<PassQuery>): NamedRange[];
  /** Of the tensors that were alive at a moment, on the device that had most of them: the peak, explained. null: there were none. */
  peakCard(query: Scope & { moment: Moment }): PeakCard | null;
  /** The highest value of a series in a span; as exactly as its time is kept. */
  peakInside(query: PeakQuery): Peak;
  /** Begins to search for the moment of a peak (as `peakInside` gave it) as exactly as it can be known; returns how far that is. */
  exactPeak(query: PeakQuery & { bytes: number }): PeakReading;
  /** Begins to read the trace up to a moment where that was not begun; returns how far it is. */
  readMoment(query: { moment: Moment }): MomentReading;
  /** Gives up what is not read to its end. */
  cancelMoments(): void;
}

export type StackBy = (typeof STACK_BY)[number];
export type StackRank = (typeof STACK_RANKS)[number];
/** -1 or absent = all. */
export interface Scope {
  process?: number;
  device?: number;
}
export type StackQuery = Scope & Fielded<typeof STACK>;
/** What a group stands for; the fields of the other kinds of groups are empty. */
export interface StackGroup extends Frame {
  source: LineSource;
  category: Category;
  process: number;
  /** -1 = several. */
  thread: number;
}
/**
 * Live bytes of the biggest groups over time, in intervals without gaps. The groups' bytes together are never more than what
 * was alive: all that is missing (smaller groups, and what comes and goes within an interval) is the rest. Intervals are steps, and
 * the bytes exactly the least that each group held in each; the last interval, from the newest event on, is what is alive now.
 * Where no step has ended they are 16 equal parts of the run, as it was at their ends.
 */
export interface StackedTimeline {
  fromNs: number;
  /** Ends of the intervals, rising. The last one is the present. */
  toNs: Float64Array;
  /** So many of the last intervals are not over. */
  unfinished: number;
  /** Biggest first. */
  groups: StackGroup[];
  /** groups × intervals. */
  heldBytes: Float64Array;
  /** groups × intervals: the most within the interval; several sites of a group need not have had it at the same time. */
  mostBytes: Float64Array;
}

/** With the colour of each group, by its number: the same for all pages that show the trace. */
export interface ColouredStack extends StackedTimeline {
  slots: number[];
  /** The colours of all lines that are drawn or were, by their names (`/home/me/train.py:12`), whatever the groups are. */
  hues: (readonly [line: string, slot: number])[];
}

/** Steps of the process that is shown in steps, and what is marked at the end of steps. */
export interface TimelineSteps {
  /** null: it is not known what a step is. */
  axis: StepTimes | null;
  /** Spans in which events are missing: begin and end in turn (ns), over all processes. */
  lost: Float64Array;
  /** Ends of the steps in which the oldest generation was collected (ns), over all processes, rising. */
  collections: Float64Array;
  /** While the tracer searched for holders, and the program stood still: begin and end in turn (ns), over all processes, rising. */
  searches: Float64Array;
}
/** Point i stands for the steps [first[i], last[i]]; the last of them ended at endNs[i]. */
export interface StepTimes {
  process: number;
  first: Float64Array;
  last: Float64Array;
  endNs: Float64Array;
}

export type PeakQuery = Scope & Fielded<typeof PEAK>;
export interface Peak {
  /** It was at some time in [fromNs, toNs]; both are the same where the time is known. */
  fromNs: number;
  toNs: number;
  bytes: number;
}
/** A peak in words, and what it is made of. */
export interface PeakCard {
  sentence: string;
  /** The allocation that reached it; null: no line is known. */
  place: { file: string; line: number } | null;
  bytes: number;
  categories: { category: Category; bytes: number }[];
  /** Equal layers are one; the biggest. */
  modules: { label: string; bytes: number }[];
  /** So many modules are left out. */
  modulesLeftOut: number;
  /** What builds up to it, within its step or over many. `path`: of what keeps it, as the sentence has it; empty: not known. */
  buildUp: { sentence: string; place: { file: string; line: number } | null; path: string }[];
  /** What lowering it alone gives; empty: not known. */
  next: string;
}
export interface MomentReading {
  done: boolean;
  /** Read so far, and to be read: times of the session (ns). */
  readNs: number;
  untilNs: number;
  /** Alive then, in the layer that is listed first; of a moment that was read to its end. */
  bytes?: number;
}

export interface PeakReading extends MomentReading {
  /** null while it is searched for. */
  peak: Peak | null;
}

export const STACK_BY = ['line', 'category', 'thread'] as const;
/** The groups with the most bytes at the end, or ever. */
export const STACK_RANKS = ['alive', 'peak'] as const;
const MOST_GROUPS = 32;
const MOST_POINTS = 2048;

const PEAK = { series: oneOf(...SERIES), fromNs: time, toNs: time };
/** `top`: so many groups at most. */
const STACK = {
  layer: oneOf(...LAYERS),
  by: oneOf(...STACK_BY),
  rank: oneOf(...STACK_RANKS),
  top: within(1, MOST_GROUPS),
};

export const timelineChecks: Checks<TimelineRequests> = {
  stackedTimeline: object({ ...STACK, ...SCOPE }),
  timelineSteps: object({ points: within(16, MOST_POINTS) }),
  passes: timeSpan(object({ process: index, fromNs: time, toNs: time })),
  ranges: timeSpan(object({ process: index, fromNs: time, toNs: time, leastNs: time })),
  peakCard: object({ moment: checkMoment, ...SCOPE }),
  peakInside: timeSpan(object({ ...PEAK, ...SCOPE })),
  exactPeak: timeSpan(object({ ...PEAK, ...SCOPE, bytes: index })),
  readMoment: object({ moment: checkMoment }),
  cancelMoments: nothing,
};
