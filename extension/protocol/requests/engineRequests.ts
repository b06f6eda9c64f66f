// Requests of the extension host to the engine, the process in which traces are read and judged, and what that sends without a request.
import type { SourceFolders } from '../cwd';
import type { ExportFormat } from '../exportFormats';
import type { JobView } from '../job';
import type { SiteRow, TraceInfo } from '../trace';
import type { TraceTime } from '../traceTime';
import type { Finding } from '../verdicts';
import type { BlockQuery, BlockRequests } from './blockRequests';
import type { ComparedTrace, CompareRequests } from './compareRequests';
import type { Requests } from './messages';
import type { EndMoment, Moment, ShownMoment } from './moment';
import type { SessionRequests } from './sessionRequests';
import type { Inquiry, VerdictRequests } from './verdictRequests';

/** What the host does of a page's wishes: it has the editor. */
export type HostRequests = SessionRequests &
  Pick<CompareRequests, 'openOtherTrace'> &
  Pick<BlockRequests, 'copyText'> &
  Pick<VerdictRequests, 'applyFix'>;
/** What the engine answers a page. */
export type PageRequests = Omit<Requests, keyof HostRequests>;
export type PageMethod = keyof PageRequests;
export type PageParams = Parameters<Requests[PageMethod]>[0];

/** What the host has of an open trace. */
export interface TraceFacts {
  info: TraceInfo;
  /** The moment that is shown instead of an end that holds little; null: there is none, or the program continues. */
  ending: EndMoment | null;
  /** Colours of the lines that the timeline stacks, by `file:line`. */
  hues: ReadonlyMap<string, number>;
  /** What was judged last; null: nothing yet. */
  findings: readonly Finding[] | null;
}

/** By its number in the window. */
export interface OfTrace {
  trace: number;
}

export interface Opening extends OfTrace {
  /** A trace directory, a saved trace or a memory snapshot. */
  path: string;
  /** Where the trace is recorded; null: it is a file. */
  directory: string | null;
  /** The holders of leaks are queried in the program automatically. */
  findsHolders: boolean;
  /** Its program has ended: the moment that is shown instead is searched for. */
  ended: boolean;
}

/** Another trace of the window, that one may be compared with. */
export interface OtherTrace extends OfTrace, Pick<ComparedTrace, 'title' | 'run' | 'status'> {}

/** A request of a page about the trace that it shows. */
export interface PageQuestion extends OtherTrace {
  method: PageMethod;
  params: PageParams;
  others: OtherTrace[];
}

/** A line of a source file, from 1, as it was when the program ran. */
export interface LineFacts extends Pick<
  SiteRow,
  'line' | 'liveBytes' | 'liveCount' | 'peakBytes' | 'allocations' | 'frees'
> {
  /** Live bytes at 16 places of the run. */
  spark: number[];
  /** `file:line` as the trace names it: what its colour is known by. */
  name: string;
}

export interface LineAnswers {
  files: Map<string, LineFacts[]>;
  /** Live bytes of the biggest line of all. */
  mostBytes: number;
}

/** The block of a tensor, and its description. */
export interface TensorFound {
  block: BlockQuery;
  place: string;
  text: string;
}

export interface EngineRequests {
  /** Opens a trace and follows it. */
  open(of: Opening): TraceFacts;
  /** Resolves once all that a saved trace holds was read; it is not followed any more. */
  readToEnd(of: OfTrace): void;
  /** Resolves once all that an ended program wrote was read. `attached`: it may continue. */
  readRest(of: OfTrace & { attached: boolean }): void;
  /** Searches for the moment that is shown instead of the end. */
  findEnding(of: OfTrace): void;
  close(of: OfTrace): void;
  /** A page got the moment that the trace stands at, and will request its figures, or has done so: the next one waits for that. */
  late(of: OfTrace & { page: number; late: boolean }): void;
  answer(question: PageQuestion): unknown;
  /** Resolves once what is there now was judged, or a moment ago. */
  judge(of: OfTrace): void;
  findHolders(of: OfTrace & { finding: string }): Inquiry;
  stopHolderSearch(of: OfTrace & { finding: string }): void;
  /** The lines of these files, as of a moment. */
  lines(of: OfTrace & { paths: readonly string[]; folders: SourceFolders; moment: Moment }): LineAnswers;
  nameMoment(of: OfTrace & { moment: Moment }): Pick<ShownMoment, 'when' | 'bytes'>;
  /** Of the tensor at an address of a process; null: none that was traced. The program stands still. */
  tensor(of: OfTrace & { pid: number; address: bigint }): TensorFound | null;
  momentOf(of: OfTrace & { time: TraceTime }): { ns: number; text: string } | { error: string };
  save(of: OfTrace & { file: string }): void;
  /** Keeps the trace in the cache, as the command line does; its file. */
  keep(of: OfTrace & { command: readonly string[]; cwd: string }): string;
  /** Writes documents on memory that ran out into a folder; their paths. */
  writeOomFiles(of: OfTrace & { folder: string }): string[];
  /** Writes the trace in a format of another tool; false: it was stopped. `number`: of this export. */
  exportTrace(of: OfTrace & { format: ExportFormat; file: string; number: number }): boolean;
  stopExport(of: { number: number }): void;
  /** Command lines without their secrets. */
  maskSecrets(of: { commands: readonly (readonly string[])[] }): string[][];
  setRecording(of: { directory: string; on: boolean }): void;
  readJob(of: { folder: string; run?: string }): JobView | { error: string };
  /** What was read of the job is not needed any more. */
  closeJob(of: { folder: string }): void;
  /** Why the native part does not load, in a sentence; null: it does. */
  problem(): string | null;
}
export type EngineMethod = keyof EngineRequests;
export type EngineParams<M extends EngineMethod> = Parameters<EngineRequests[M]>[0];
export type EngineResult<M extends EngineMethod> = ReturnType<EngineRequests[M]>;

/** What changed of a trace: it has more events, or anything else may have changed as well. */
export type TraceChange = 'events' | 'state';

export type ToEngine = { [M in EngineMethod]: { id: number; method: M; params: EngineParams<M> } }[EngineMethod];
export type FromEngine =
  | { type: 'answer'; id: number; ok: true; value: unknown }
  | { type: 'answer'; id: number; ok: false; sentence: string }
  /** `change` absent: it goes with an answer of this moment, and needs no request. */
  | { type: 'news'; trace: number; change?: TraceChange; facts: Partial<TraceFacts> }
  | { type: 'progress'; number: number; done: number }
  | { type: 'log'; text: string };

/** What answers them: the engine's process, or this one. */
export interface Engine {
  /** Rejects with one sentence. */
  request<M extends EngineMethod>(method: M, params: EngineParams<M>): Promise<EngineResult<M>>;
}
