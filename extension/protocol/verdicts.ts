// Verdicts on memory: states of sites, findings, the ledger, failures. Made by extension/analysis, shown by all faces.
// Sizes are bytes. Steps are those of trace.ts.
import type { ReportedSource } from './notes';
import type { Category, Frame, Layer } from './trace';

/**
 * What a site does; `text/vocabulary.ts` describes each. Only `growing` is a leak; `rising` may still be something that fills, and
 * `rose` did so until the program ended.
 */
export type SiteState =
  | 'growing'
  | 'rising'
  | 'rose'
  | 'slow'
  | 'sawtooth'
  | 'plateau'
  | 'one-shot'
  | 'transient'
  | 'cycle'
  | 'anomaly'
  | 'cache'
  | 'before-attach'
  | 'unknown';

/** The states of what grows, worst first. A finding has the state as its verdict, but for a leak. */
export const GROWING = ['growing', 'rising', 'rose', 'slow'] as const;
export type GrowingState = (typeof GROWING)[number];

export interface SiteVerdict {
  site: number;
  process: number;
  layer: Layer;
  state: SiteState;
  /** `blocks`: ever more of them; `size`: ever bigger ones. null: does not grow. */
  grows: 'blocks' | 'size' | 'level' | null;
  /** Growth of what stays; 0 where it does not grow. */
  bytesPerStep: number;
  /** First step of the growth; null where it does not grow. */
  sinceStep: number | null;
  /** Steps that it grew in since then; 0 where it does not grow. */
  rises: number;
  /** What it rose by so far, where more steps must show whether it grows; else 0. */
  risenBytes: number;
  /** Steps between two rises (growing) or two falls (sawtooth); null where there is no such rhythm. */
  period: number | null;
  /** It grows by models, one of which is made every so many steps: few enough that they may be an ensemble, or the folds of a validation. */
  models?: true;
  /** From 0 to 1. */
  confidence: number;
  /** One sentence on why. */
  because: string;
}

/** `text/vocabulary.ts` describes each. */
/** `slow`: a leak that would take longer to fill the device than any job runs. */
export type FindingVerdict =
  | 'leak'
  | 'rising'
  | 'rose'
  | 'slow'
  | 'oom'
  | 'fragmentation'
  | 'pending'
  | 'rounded'
  | 'cycle'
  | 'anomaly'
  | 'untraced';

/** What kind of keeping it is; decides the advice. */
export type LeakClass =
  | 'graph'
  | 'outputs'
  | 'size'
  | 'gradients'
  | 'backward'
  | 'cycle'
  | 'exception'
  | 'hook'
  | 'pinned'
  | 'driver';
/** `limit`: the device had room, and PyTorch was not allowed to take it. */
export type OutOfMemoryCause =
  | 'leak'
  | 'cache'
  | 'limit'
  | 'fragmentation'
  | 'pools'
  | 'big-request'
  | 'other-process'
  | 'full';

export interface FindingPlace extends Frame {
  site: number;
  /** Growth of this line; 0 where the finding is about no growth. */
  bytesPerStep: number;
}
/** Nothing takes anything out of it, or begins it anew; something does in some case; something does. */
export type HolderLimit = 'none' | 'maybe' | 'shrinks' | 'anew';
/** Its entries are joined, its length is compared, something is taken out of it. */
export type HolderLimiting = 'joins' | 'length' | 'removes';

export interface FindingHolder {
  /** `train.py, train(): epoch_loss`; in the agent's words. */
  path: string;
  /** As the agent names it: attribute, global, local, closure, ... */
  kind: string;
  file: string | null;
  line: number | null;
  function: string | null;
  /** Of the container, null where it is none; and its bound (`deque(maxlen=...)`). */
  length: number | null;
  bound: number | null;
  /** Of the path, what gets ever more entries; absent: unknown. */
  container?: string;
  /** Of the tensors that it holds: whether any of them has a graph, and whether all have one element; absent: unknown. */
  graph?: boolean;
  one?: boolean;
  /** It lies in a metric of torchmetrics; absent: in none. */
  metric?: boolean;
  /** What brings an array of another library than PyTorch to the CPU; absent: it holds none. */
  toHost?: string;
  /** What bounds it, by the program's text; absent: unknown. */
  limit?: HolderLimit;
  /** What the program does there that may bound it; absent: unknown. */
  limitAt?: { how: HolderLimiting; file: string; line: number };
  /** Where a parse of the statement at `line` showed for sure how it keeps less. */
  fix?: Fix;
  /** When the program was queried while it ran, and how long it stood still for that; absent: it is known otherwise. */
  asked?: { timeNs: number; pauseMs: number };
  /** Where it does not hold nearly all: how many of the blocks that were searched, and how many others hold some; absent: nearly all. */
  share?: { blocks: number; of: number; others: number; named: HolderPart[] };
  /** Other holders of the same blocks, so that one change frees none of them; absent: none is known. */
  also?: HolderToo[];
}
/** Another holder, of a part that matters. */
export interface HolderPart extends Pick<FindingHolder, 'path' | 'file' | 'line'> {
  blocks: number;
}
/** Another holder of some of the blocks that one has: of `of`. */
export interface HolderToo extends HolderPart {
  of: number;
}
/** An edit of a source file: `before` stands between two places of it (line and UTF-16 column, both from 1). */
export interface Fix {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  before: string;
  after: string;
  /** What `after` has more: `.detach()`. */
  adds: string;
  /** The whole statement as it is then, in one line. */
  statement: string;
}
export interface Finding {
  /** Equal for the same finding of a later moment. */
  id: string;
  verdict: FindingVerdict;
  /** Of a leak, or of the leak that led to a failure. */
  class: LeakClass | null;
  cause: OutOfMemoryCause | null;
  /** Headline and detail in one. */
  title: string;
  /** Where and what is kept, or what did not fit: without the figures, and without a full stop. */
  headline: string;
  /** Of a failure why it happened, else the figures in words; null: the headline has it all. */
  detail: string | null;
  process: number;
  /** Processes that have it, with the numbers of the one in which it is worst. */
  processes: number;
  device: number;
  layer: Layer;
  bytesPerStep: number;
  /** Held by it, and in how many blocks: see `bytesAtStep`. */
  bytes: number;
  count: number;
  /** The step at whose end that was; null: when the allocation failed that the program ended with, or there are no steps. */
  bytesAtStep: number | null;
  blocksPerStep: number;
  sinceStep: number | null;
  /** In which memory ran out; null: it did not, or the step is not known. */
  atStep: number | null;
  /** Steps from one rise to the next; null where nothing grows. */
  period: number | null;
  /** Step at which the device is full if it continues like this; null: not known, or not growing. */
  fullAtStep: number | null;
  /** How many steps that is from now. */
  fullInSteps: number | null;
  /** How long that takes at the pace of the newest steps. */
  fullInSeconds: number | null;
  confidence: number;
  /** The line to look at: allocates most of what survives. null: no Python line. */
  place: FindingPlace | null;
  /** All lines, biggest first. */
  places: FindingPlace[];
  sites: number[];
  holder: FindingHolder | null;
  /** Why its holder cannot be found, in a sentence; null: it is known, or may become so. */
  unnamed: string | null;
  /** `NCCL (libnccl.so.2)`: the library that called the driver for it; null: several, not known, or tensors. */
  library: string | null;
  evidence: string[];
  ruledOut: string[];
  suggestion: string;
  /** Absent: it is none. */
  failure?: OutOfMemoryVerdict;
}

/** Beside this share of the fastest growth, another one does not matter. */
const MINOR = 0.01;

/** Growth so much slower than the fastest of its process that it need not be looked at first. */
export function isMinor(finding: Finding, all: readonly Finding[]): boolean {
  const own = all.filter(one => isGrowth(one) && one.process === finding.process);
  return isGrowth(finding) && finding.bytesPerStep < MINOR * Math.max(...own.map(one => one.bytesPerStep));
}

/** A leak, or a failure that came of one. */
export function isLeak({ verdict, cause }: Pick<Finding, 'verdict' | 'cause'>): boolean {
  return verdict === 'leak' || (verdict === 'oom' && cause === 'leak');
}

/** What its sites do where they grow; null: the finding is about no growth. */
export function growingState({ verdict }: Pick<Finding, 'verdict'>): GrowingState | null {
  return verdict === 'leak' ? 'growing' : (GROWING.find(state => state === verdict) ?? null);
}

/** A leak, whether or not it matters, or what may be one. */
export function isGrowth(finding: Pick<Finding, 'verdict'>): boolean {
  return growingState(finding) !== null;
}

/** One layer of a device's ledger. */
export interface LedgerLayer {
  /** At the end of the last step; null: not known. */
  bytes: number | null;
  /** Per step over the recent past (Theil-Sen); null: too few steps. */
  bytesPerStep: number | null;
}
/** What one library holds of a device's driver memory, the framework's segments apart. */
export interface LedgerLibrary {
  /** Of the shared object, or of the program; empty: what no known library took. */
  path: string;
  /** `NCCL (libnccl.so.2)`; `other` where the path is empty. */
  name: string;
  /** Now. */
  bytes: number;
  /** Per step over the recent past (Theil-Sen); null: too few steps. */
  bytesPerStep: number | null;
}
/** tensors ⊂ reserved ⊂ driver ⊂ process. */
export interface Ledger {
  process: number;
  device: number;
  tensor: LedgerLayer;
  /** Freed, but still in use by another stream: in the cache beside the tensors. */
  pending: LedgerLayer;
  reserved: LedgerLayer;
  driver: LedgerLayer;
  /** Of the driver's, by the library that called; biggest first, what is not known last. */
  libraries: LedgerLibrary[];
  processBytes: LedgerLayer;
  usedBytes: number | null;
  totalBytes: number | null;
  /** Of the process's bytes, what no traced call took: context, modules, libraries that were there before. */
  remainderBytes: number | null;
  /** The outermost layer that grows by itself. */
  grows: 'tensor' | 'reserved' | 'driver' | 'process' | null;
}

/** What to do less of, or otherwise; `leak`: what grows. */
export type AdviceKind =
  | 'leak'
  | 'gradients'
  | 'pinning'
  | 'prefetch'
  | 'empty-cache'
  | 'segments'
  | 'limit'
  | 'processes'
  | 'parts'
  | 'one-pool'
  | 'pools'
  | 'batch'
  | 'once'
  | 'copies'
  | 'shapes'
  | 'zero-grad'
  | 'checkpointing';
/** Something to try, and the bytes that it would have given by what was recorded. */
export interface OutOfMemoryAdvice {
  kind: AdviceKind;
  text: string;
  bytes: number;
  /** It may give less, or more. */
  atMost?: true;
  atLeast?: true;
  /** A forecast of the fit shows what would do; each face names where it is. */
  forecast?: true;
}
export interface OutOfMemoryLine {
  site: number;
  line: string;
  bytes: number;
  count: number;
}
export interface OutOfMemoryVerdict {
  /** Index in `TraceInfo.outOfMemory`. */
  index: number;
  cause: OutOfMemoryCause;
  title: string;
  headline: string;
  /** Why it happened; and the holder of the leak behind it. null: no leak, or unknown. */
  detail: string;
  holder: string | null;
  /** At most three, best first; why there is none, else null. */
  advice: OutOfMemoryAdvice[];
  noAdvice: string | null;
  /** The program got over it; null: not known. */
  wentOn: boolean | null;
  step: number | null;
  freeBytes: number | null;
  othersBytes: number | null;
  totalBytes: number | null;
  /** What PyTorch could have had, and has in use; what it lacks for the request. Where what is free is unknown, at least and at most. */
  limitBytes: number | null;
  inUseBytes: number | null;
  missingBytes: number | null;
  largestFreeBytes: number | null;
  reservedBytes: number | null;
  aliveByLine: OutOfMemoryLine[];
  aliveByCategory: { category: Category; bytes: number; count: number }[];
  /** Call stacks with live memory that allocated more in this step than usual. */
  newInStep: { site: number; line: string; bytes: number; usualBytes: number }[];
}

/** Memory that piled up behind the last step of a process, where no step judges it. */
export interface AfterSteps {
  process: number;
  /** More than it ever had in a step. */
  bytes: number;
  /** The line that rose most, as it is shown, and by how much. */
  line: string;
  lineBytes: number;
}

/** A line that rises without a verdict. */
export interface Unjudged {
  site: number;
  layer: Layer;
  /** As it is shown. */
  line: string;
  bytes: number;
  /** Steps in which it rose. */
  rises: number;
  /** Why there is no verdict, and what it takes: one sentence. */
  because: string;
}

/** All verdicts on a trace at one moment. */
export interface Verdicts {
  revision: number;
  /** Of the process with most steps. */
  steps: { count: number; source: ReportedSource | 'none' };
  /** Of the same process; null: not much. */
  after: AfterSteps | null;
  /** The lines that rose most without a verdict, if they matter. */
  unjudged: Unjudged[];
  sites: Map<number, SiteVerdict>;
  findings: Finding[];
  ledger: Ledger[];
  outOfMemory: OutOfMemoryVerdict[];
}
