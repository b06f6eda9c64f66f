// Requests of the page about verdicts on memory: findings, the states of lines, the holders of what survives.
import { index, listOf, nothing, object, oneOf, text, type Checks } from './fieldChecks';
import type { Frame } from '../trace';
import type { Finding, FindingHolder, SiteState } from '../verdicts';

/** One reference on the way from a root to a block: its kind and name, the type it leads to, the length of the container it is in. */
export interface HolderLink {
  kind: string;
  name: string;
  type: string;
  length: number | null;
}
/** An object that keeps blocks alive, and how many of those in question. */
export interface HolderFound extends FindingHolder {
  count: number;
  bytes: number;
  chain: HolderLink[];
}
/** A query to the traced process for the holders of a finding's blocks. */
export interface Inquiry {
  state: 'asking' | 'answered' | 'refused';
  /** What is waited for, where the answer is from, or why there is none: one sentence. */
  sentence: string;
  results: HolderFound[];
}

export interface FindingView extends Finding {
  /** Live bytes of its lines at the ends of up to 48 spans of steps, oldest first. */
  spark: number[];
  /** Of which moment its figures are: `at the end of step 200`. */
  heldWhen: string;
  /** Its process can be queried now. */
  queryable: boolean;
  /** null: there was no query. */
  holders: Inquiry | null;
}
/**
 * The verdict on a trace as a whole: `waiting` for steps or time, `lost`: too many events are missing, `partial`: nothing was found, but some are,
 * `after`: nothing was found, but memory piled up where no steps judge it, `rising`: nothing was found, but lines rose in too few steps for a
 * verdict, `clean`: nothing leaks, `found`: there are findings.
 */
export type OverallVerdict = 'waiting' | 'lost' | 'partial' | 'after' | 'rising' | 'clean' | 'found';
export interface FindingsView {
  /** There is news that was not judged yet: worth another request in a second. */
  stale: boolean;
  /** Revision of the trace that was judged (`TraceInfo.revision`). */
  revision: number;
  overall: OverallVerdict;
  /** The same in words. */
  sentence: string;
  /** Leaks first. */
  findings: FindingView[];
}

/** The verdict on a row of the table: the worst of its sites. */
export interface RowVerdict {
  /** The id of the row, as in the request. */
  site: number;
  state: SiteState;
  /** Sum over its growing sites. */
  bytesPerStep: number;
  /** One sentence on why. */
  because: string;
}
/** A line that is no part of a finding, and what it does. */
export interface OtherLine extends Frame, Pick<RowVerdict, 'site' | 'state' | 'because'> {
  /** At the moment of the question. */
  liveBytes: number;
}

const GROUPINGS = ['site', 'line', 'function'] as const;
export type VerdictGrouping = (typeof GROUPINGS)[number];

export interface VerdictRequests {
  /** What was found so far. */
  findings(): FindingsView;
  /** What builds up to the peak of a run that has ended, in a few words; empty: nothing does. */
  builtUp(): string;
  /** Verdicts on rows by their ids (`SiteWindow.id`) under a grouping; rows of which nothing is known are left out. */
  verdicts(query: { sites: number[]; groupBy: VerdictGrouping }): RowVerdict[];
  /** The biggest lines that are no part of this finding. */
  otherLines(of: { finding: string }): OtherLine[];
  /** Queries the holders of a finding's survivors in the traced process; the answer comes with `findings`. */
  findHolders(of: { finding: string }): void;
  /** Writes a finding's fix into its source file, as an edit that undo takes back. */
  applyFix(of: { finding: string }): void;
  /** Waits no longer for the process's answers about a finding. */
  stopHolderSearch(of: { finding: string }): void;
}

export const MAX_VERDICTS = 2_000;
const OF_FINDING = object({ finding: text() });

export const verdictChecks: Checks<VerdictRequests> = {
  findings: nothing,
  builtUp: nothing,
  verdicts: object({ sites: listOf(MAX_VERDICTS, 'site', index), groupBy: oneOf(...GROUPINGS) }),
  otherLines: OF_FINDING,
  findHolders: OF_FINDING,
  applyFix: OF_FINDING,
  stopHolderSearch: OF_FINDING,
};
