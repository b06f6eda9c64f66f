// A job of many ranks, as far as it is known without opening a trace: one summary a process, in the job's folder.
import { fieldsIn, isFields, parseFields, type Fields } from '../base/fields';
import type { RankInfo } from './rank';
import type { Frame, Layer, StepSource } from './trace';
import type { Finding, SiteState } from './verdicts';

/** What is recorded of a rank over its steps; bytes at the ends of steps, of `peak` the most within. */
export const JOB_LAYERS = ['peak', 'live', 'reserved', 'outside', 'foreign'] as const;
export type JobLayer = (typeof JOB_LAYERS)[number];

/** Bytes by column; a column is some steps that follow each other. null: not known. */
export interface RankSeries extends Record<JobLayer, (number | null)[]> {
  /** The last step of each column, rising. */
  last: number[];
}

/** A line of the program, with all of its stacks. */
export interface RankLine extends Frame {
  /** The most that it had alive at once, and now. */
  peakBytes: number;
  liveBytes: number;
  /** How its live bytes grow; 0: they do not. */
  bytesPerStep: number;
  /** null: nothing is known of it. */
  state: SiteState | null;
}

/** What is kept of a finding. */
export type RankFinding = Pick<
  Finding,
  'verdict' | 'class' | 'cause' | 'title' | 'bytesPerStep' | 'bytes' | 'sinceStep' | 'confidence' | 'suggestion'
> &
  Frame & {
    holder: string | null;
    /** Where the holder got it: the line to change. Absent or null: not known. */
    change?: Pick<Frame, 'file' | 'line'> | null;
  };

/** One process of a job, on the device that it uses most. Times are Unix ones. */
export interface RankSummary extends RankInfo {
  version: 1;
  pid: number;
  command: string[];
  /** Of the Git repository that it was started in; empty: not known. */
  branch: string;
  commit: string;
  startedMs: number;
  durationSeconds: number;
  /** It was still recorded when this was written. */
  live: boolean;
  exitCode: number | null;
  simulated: boolean;
  lost: { events: number; byCause: Record<string, number> };
  device: number;
  /** `GPU-…`; empty: not known. */
  gpu: string;
  gpuName: string;
  totalBytes: number | null;
  layer: Layer;
  stepSource: StepSource;
  steps: number;
  peakBytes: number;
  outOfMemoryCount: number;
  series: RankSeries;
  lines: RankLine[];
  findings: RankFinding[];
  /** The saved trace, from the job's folder; null: there is none in it. */
  trace: string | null;
}

const NUMBERS = ['pid', 'startedMs', 'durationSeconds', 'device', 'steps', 'peakBytes', 'outOfMemoryCount'];
const TEXTS = ['run', 'host', 'role', 'branch', 'commit', 'gpu', 'gpuName', 'layer', 'stepSource'];
const LINE: [numbers: string[], texts: string[]] = [
  ['line', 'peakBytes', 'liveBytes', 'bytesPerStep'],
  ['file', 'function'],
];
const FINDING: typeof LINE = [
  ['line', 'bytesPerStep', 'bytes', 'confidence'],
  ['verdict', 'title', 'file', 'function'],
];

/** The summary in a file of a job's folder, which any user may have written; null: it is none, or a part is missing. */
export function parseSummary(text: string): RankSummary | null {
  const fields = parseFields(text);
  if (fields?.version !== 1 || !has(fields, NUMBERS, TEXTS)) return null;
  const { series, lines, findings, lost, mesh, command, rank, worldSize } = fields;
  const lists = isFields(series) ? ['last', ...JOB_LAYERS].map(name => series[name]) : [];
  const columns = lists.map(list => (Array.isArray(list) ? list.length : -1));
  const whole =
    columns.length > 0 &&
    columns.every(count => count === columns[0] && count > 0) &&
    [lines, findings, command].every(Array.isArray) &&
    fieldsIn(lines).every(line => has(line, ...LINE)) &&
    fieldsIn(findings).every(finding => has(finding, ...FINDING)) &&
    isFields(lost) &&
    typeof lost.events === 'number' &&
    isFields(mesh) &&
    [rank, worldSize].every(value => value === null || isCount(value));
  return whole ? (fields as unknown as RankSummary) : null;
}

/** No job has ten million ranks. */
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 1e7;

function has(fields: Fields, numbers: readonly string[], texts: readonly string[]): boolean {
  return (
    numbers.every(name => typeof fields[name] === 'number') && texts.every(name => typeof fields[name] === 'string')
  );
}

/** What some ranks do that their equals, those of one stage of a pipeline and of one role, do not; or what grows in all. */
export interface JobDifference {
  /** `growth`: more a step · `peak`: a higher or lower one · `foreign`: processes that are not of the job hold memory of its GPUs. */
  kind: 'growth' | 'peak' | 'foreign';
  /** `rank 37 alone`, `all ranks of stage 0`, `host n7`: the ranks that it is about. */
  who: string;
  ranks: number[];
  /** More (or less) than its equals: a step, or at the peak; of `foreign` all of it, the most on one GPU. */
  bytes: number;
  /** The lines that explain it, the biggest first, with their part of it. */
  lines: (Frame & { bytes: number })[];
  holder: string | null;
  /** What to change, and where, as the finding of the worst rank has it; null: nothing is known. */
  advice: string | null;
  /** All in one sentence. */
  sentence: string;
}

/** A row of the heat map. */
export interface JobRank extends Pick<RankSummary, RankFields> {
  /** Names the rank's process in the job's folder. */
  key: string;
  rank: number;
  leaks: number;
  lostEvents: number;
  /** It is not known to have ended, and has written nothing for minutes. */
  silent: boolean;
}
type RankFields = 'host' | 'pid' | 'steps' | 'peakBytes' | 'totalBytes' | 'live' | 'exitCode' | 'trace' | 'series';

export interface JobView {
  run: string;
  simulated: boolean;
  /** How many ranks the job has; null: unknown. */
  worldSize: number | null;
  ranks: JobRank[];
  /** What is wrong with the folder or missing in it, a sentence each. */
  notes: string[];
  differences: JobDifference[];
  /** Runs in the folder, oldest first, this one among them. */
  runs: JobRun[];
  /** Lines that changed most from run to run; of one run none. */
  trends: JobTrend[];
}

/** A line over the runs of a folder; null: a run has not got it. */
export interface JobTrend {
  file: string;
  line: number;
  place: string;
  peakBytes: (number | null)[];
  bytesPerStep: (number | null)[];
}

/** One run of several in a folder. */
export interface JobRun extends Pick<RankSummary, 'run' | 'startedMs' | 'branch' | 'commit' | 'peakBytes'> {
  ranks: number;
  /** Of the line that grows fastest in it; 0: none does. */
  bytesPerStep: number;
  place: string;
}
