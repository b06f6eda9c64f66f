// Messages between the extension host and the page. Call and result types are derived from the requests.
import type { Mark } from '../marks';
import type { BlockQuery, BlockRequests } from './blockRequests';
import type { ComparePoint, CompareRequests } from './compareRequests';
import type { ForecastRequests } from './forecastRequests';
import type { LedgerRequests } from './ledgerRequests';
import type { EndMoment, PageMoment } from './moment';
import type { SegmentRequests } from './segmentRequests';
import type { Button, SessionRequests } from './sessionRequests';
import type { TimelineRequests } from './timelineRequests';
import type { TraceInfo } from '../trace';
import type { TraceRequests } from './traceRequests';
import type { TreeRequests } from './treeRequests';
import type { VerdictRequests } from './verdictRequests';

/** Where a session stands, for the page's header and its empty, starting, running, ended and failed states. */
export type Phase = 'empty' | 'starting' | 'running' | 'ended' | 'failed';

/** One of the sessions of the window. */
export interface SessionEntry {
  id: number;
  /** Tells it apart from the others. */
  title: string;
  /** When it began, as far as that is known, and how it goes: `9:45 AM · ended · 1 leak`. */
  status: string;
}

/** A trace that was open before. */
export interface RecentEntry {
  file: string;
  title: string;
  /** When it was recorded, its size, its peak. */
  words: string;
}

export interface SessionView {
  /** Another number: another trace. */
  id: number;
  phase: Phase;
  /** File name of the script, or of the saved trace. */
  title: string;
  /** One sentence: what is being waited for, how it ended, why it failed and what to do. */
  detail: string;
  /** The GPU is the simulated one. */
  simulated: boolean;
  /** The tracer came to a program that ran already, and can leave it running. */
  attached?: boolean;
  /** Recording can be stopped and started again (the process runs). */
  recording: boolean;
  exitCode: number | null;
  /** It ended by itself, and not well: a status that is not 0, or a signal. */
  crashed?: boolean;
  /** The user ends the program, or has ended it. */
  stopped?: boolean;
  /** Of one that crashed in this window: how else it ended, and which Python ran it. */
  ran?: string;
  /** The line that `detail` ends with. */
  raisedAt?: { file: string; line: number };
  /** A debugger has stopped it. */
  halted?: boolean;
  /** Its PyTorch can use no GPU; `detail` has the reason. */
  onCpu?: boolean;
  /** What can be done now, as buttons. */
  offers?: readonly Button[];
  /** Ids of the findings whose fix is in the source by now, saved or not. */
  fixed?: readonly string[];
  /** The number of the run of the same program before it. */
  before?: number;
  /** The number of the newest run of the same program, where this is an older one. */
  newer?: number;
  /** null: the end itself is shown, or it has not come. */
  ending: EndMoment | null;
  /** What a page has chosen, and all show; absent: none has. */
  shown?: PageMoment;
  /** Nothing starts in an untrusted workspace. */
  trusted: boolean;
  /** The page is a narrow one, and can be opened in an editor. */
  canWiden: boolean;
  /** Earliest first. */
  marks: Mark[];
  /** The only moments (ns) that can be shown, rising, beside now; absent: all can. */
  moments?: readonly number[];
  /** All that the window has, newest first, this one among them. Empty where there is no choice, as for a file in its own editor. */
  sessions: SessionEntry[];
  /** Newest first; where nothing is shown. */
  recent?: RecentEntry[];
  /** Which trace was closed just now, and where it is kept: a sentence; where nothing is shown. */
  closed?: string;
  info: TraceInfo | null;
}

/** Where there is nothing to show. */
export const NO_SESSION: SessionView = {
  id: 0,
  phase: 'empty',
  title: '',
  detail: '',
  simulated: false,
  recording: false,
  exitCode: null,
  ending: null,
  trusted: true,
  canWiden: false,
  marks: [],
  sessions: [],
  info: null,
};

/** Requests of the page; the host answers or rejects each. One file a kind of request, with its checks. */
export interface Requests
  extends
    TraceRequests,
    TimelineRequests,
    TreeRequests,
    CompareRequests,
    SessionRequests,
    BlockRequests,
    LedgerRequests,
    SegmentRequests,
    ForecastRequests,
    VerdictRequests {}
export type Method = keyof Requests;
export type Params<M extends Method> = Parameters<Requests[M]>[0];
export type Result<M extends Method> = ReturnType<Requests[M]>;

export type ToHost =
  | { type: 'ready' }
  | { [M in Method]: { type: 'request'; id: number; method: M; params: Params<M> } }[Method];

export type ToPage =
  /** `answers`: its figures are of the moment of the answers that travel with it. */
  | { type: 'session'; session: SessionView; answers?: true }
  /** Events arrived: what is shown should be requested again. */
  | { type: 'changed'; revision: number }
  /** What was found is to be requested again, at once: the editor shows it too. */
  | { type: 'judged' }
  /** What is shown is to be seen beside this moment. */
  | { type: 'compare'; a: ComparePoint }
  /** The card of a finding is to be seen. */
  | { type: 'finding'; id: string }
  /** This moment is to be seen, and the card of a finding. */
  | { type: 'moment'; timeNs: number; title: string; finding: string | null }
  /** A block and its stack are to be seen. */
  | { type: 'block'; title: string; block: BlockQuery }
  /** The keyboard is to be where one begins to read. */
  | { type: 'focus' }
  | { type: 'response'; id: number; ok: true; value: unknown }
  | { type: 'response'; id: number; ok: false; error: string };
