import type { Category } from '../../protocol/steps';
import {
  LAYERS,
  listedLayer,
  siteRows,
  type Frame,
  type GroupBy,
  type Layer,
  type LineSource,
  type ProcessInfo,
  type SiteRow,
  type Totals,
  type TraceInfo,
  type TraceSource,
} from '../../protocol/trace';
import type { SiteState, Verdicts } from '../../protocol/verdicts';
import { beforeAttachFrees } from './attached';
import { reportFindings, reportLedger, reportOutOfMemory, reportSteps } from './reportVerdicts';
import type { ReportFinding, ReportLedger, ReportOutOfMemory, ReportSteps } from './reportVerdicts';
import { verdictsOf } from '../findings/verdictCache';
import { STREAM_UNKNOWN } from '../../protocol/streams';
import { findThread } from '../../protocol/threads';

/** The JSON document of a trace, version 1. Sizes are bytes; null is "not known". What there may be many of is read as it is written. */
export interface Report {
  version: 1;
  command: string[];
  exitCode: number | null;
  startedAt: string;
  durationSeconds: number;
  simulated: boolean;
  events: number;
  lost: TraceInfo['lost'];
  processes: ReportProcess[];
  devices: TraceInfo['devices'];
  totals: ReportTotal[];
  allocations: Iterable<ReportAllocation>;
  sites: Iterable<ReportSite>;
  steps: ReportSteps;
  ledger: ReportLedger[];
  findings: ReportFinding[];
  /** The first failed allocations and the newest. */
  oom: ReportOutOfMemory[];
  /** All of them, where `oom` does not list each. */
  oomCount?: number;
  groups?: ReportGroup[];
}
interface ReportProcess extends Omit<ProcessInfo, 'index' | 'startNs' | 'recording' | 'threads' | 'notes'> {
  threads: { tid: number; name: string }[];
  notes: string[];
}
type ReportTotal = Omit<Totals, 'process' | 'peakNs'> & {
  /** Frees of blocks that were there before the tracer came and are not known. */
  beforeAttachFrees: number;
};
interface ReportAllocation {
  address: string;
  bytes: number;
  device: number;
  pid: number;
  tid: number;
  thread: string;
  layer: Layer;
  ageSeconds: number;
  /** Steps of its process that have ended since. */
  ageSteps: number;
  /** What the agent called it; empty where nobody asked. */
  name: string;
  category: Category;
  /** What the program asked for before its allocator rounded it up; null: not recorded. */
  askedBytes: number | null;
  /** Handle of the stream, `0x0` = the default one; null: not recorded. */
  stream: string | null;
  /** Pool of the framework's allocator, `0:0` = that of all; null: not recorded. */
  pool: string | null;
  site: number;
}
type Sums = Pick<SiteRow, 'liveBytes' | 'liveCount' | 'peakBytes' | 'allocations' | 'frees'>;
interface ReportSite extends Sums {
  id: number;
  layer: Layer;
  allocatedBytes: number;
  bytesPerSecond: number;
  verdict: SiteState;
  /** One sentence on why. */
  because: string;
  /** Growth of what stays; 0 where it does not grow, null where nothing is known. */
  bytesPerStep: number | null;
  sinceStep: number | null;
  lineSource: LineSource;
  /** Path of the library that called the driver; empty: not known, or not of the driver. */
  library: string;
  cut: boolean;
  userFrame: Frame | null;
  frames: Frame[];
}
interface ReportGroup extends Sums {
  groupBy: GroupBy;
  layer: Layer;
  label: string;
  bytesPerSecond: number;
}

const WINDOW_ROWS = 10_000;

/** Builds the document of all that the trace holds now. `groupBy` adds `groups`. */
export function buildReport(source: TraceSource, groupBy?: GroupBy, verdicts: Verdicts = verdictsOf(source)): Report {
  const info = source.info();
  const session = readSession(info.session);
  const report: Report = {
    version: 1,
    command: session.command.length > 0 ? session.command : (info.processes[0]?.command ?? []),
    exitCode: session.exitCode ?? info.processes[0]?.exitCode ?? null,
    startedAt: new Date(session.startedRealtimeMs ?? info.startRealtimeMs).toISOString(),
    durationSeconds: info.durationNs / 1e9,
    simulated: session.simulated || info.processes.some(process => process.simulated),
    events: info.events,
    lost: info.lost,
    processes: info.processes.map(process => reportProcess(process, session.exitCodes)),
    devices: info.devices,
    totals: info.totals.map(total => reportTotal(total, beforeAttachFrees(info, total))),
    allocations: ofAllLayers(layer => readAllocations(source, info, layer)),
    sites: ofAllLayers(layer => readSites(source, layer, verdicts)),
    steps: reportSteps(info, verdicts),
    ledger: reportLedger(source, info, verdicts),
    findings: reportFindings(info, verdicts),
    oom: reportOutOfMemory(info, verdicts),
  };
  if (info.outOfMemoryCount > info.outOfMemory.length) report.oomCount = info.outOfMemoryCount;
  if (groupBy !== undefined) report.groups = readGroups(source, listedLayer(info.totals), groupBy);
  return report;
}

interface SessionFacts {
  command: string[];
  exitCode: number | null;
  exitCodes: Map<number, number>;
  simulated: boolean;
  startedRealtimeMs: number | null;
}

/** What the launcher left; a trace may come without it or with a newer one. */
function readSession(session: Record<string, unknown>): SessionFacts {
  const exitCodes = new Map<number, number>();
  const processes: unknown[] = Array.isArray(session.processes) ? session.processes : [];
  for (const entry of processes) {
    const { pid, exitCode } = (entry ?? {}) as { pid?: unknown; exitCode?: unknown };
    if (typeof pid === 'number' && typeof exitCode === 'number') exitCodes.set(pid, exitCode);
  }
  const started = session.startedRealtimeMs;
  return {
    command: Array.isArray(session.command) ? session.command.map(String) : [],
    exitCode: exitCodes.values().next().value ?? null,
    exitCodes,
    simulated: session.simulated === true,
    startedRealtimeMs: typeof started === 'number' && Number.isFinite(started) ? started : null,
  };
}

function reportProcess(process: ProcessInfo, exitCodes: Map<number, number>): ReportProcess {
  return {
    pid: process.pid,
    parentPid: process.parentPid,
    uid: process.uid,
    command: process.command,
    exitCode: process.exitCode ?? exitCodes.get(process.pid) ?? null,
    ended: process.ended,
    python: process.python,
    driverSource: process.driverSource,
    simulated: process.simulated,
    threads: process.threads.map(({ tid, name }) => ({ tid, name })),
    notes: process.notes.map(note => note.text),
  };
}

function reportTotal({ process: _process, peakNs: _peakNs, ...total }: Totals, before: number): ReportTotal {
  return { ...total, unmatchedFrees: total.unmatchedFrees - before, beforeAttachFrees: before };
}

function* ofAllLayers<T>(read: (layer: Layer) => Iterable<T>): Generator<T> {
  for (const layer of LAYERS) yield* read(layer);
}

function* readAllocations(source: TraceSource, info: TraceInfo, layer: Layer): Generator<ReportAllocation> {
  for (let from = 0; ; from += WINDOW_ROWS) {
    const window = source.allocations({ layer, sort: 'bytes', descending: true, from, to: from + WINDOW_ROWS });
    for (let row = 0; row < window.rows; row++) {
      const process = info.processes[window.process[row] ?? -1];
      const thread = findThread(info.processes, window.process[row], window.thread[row]);
      const asked = window.askedBytes[row] ?? NaN;
      const stream = window.stream[row] ?? STREAM_UNKNOWN;
      yield {
        address: `0x${(window.address[row] ?? 0n).toString(16)}`,
        bytes: window.bytes[row] ?? 0,
        device: window.device[row] ?? -1,
        pid: process?.pid ?? 0,
        tid: thread?.tid ?? 0,
        thread: thread?.name ?? '',
        layer: window.layer[row] ?? layer,
        ageSeconds: Math.max(0, info.durationNs - (window.timeNs[row] ?? 0)) / 1e9,
        ageSteps: window.ageSteps[row] ?? 0,
        name: window.name[row] ?? '',
        category: window.category[row] ?? 'unnamed',
        askedBytes: Number.isNaN(asked) ? null : asked,
        stream: stream === STREAM_UNKNOWN ? null : `0x${stream.toString(16)}`,
        pool: window.pool[row] || null,
        site: window.site[row] ?? 0,
      };
    }
    if (window.rows < WINDOW_ROWS) return;
  }
}

function* readSites(source: TraceSource, layer: Layer, verdicts: Verdicts): Generator<ReportSite> {
  for (let from = 0; ; from += WINDOW_ROWS) {
    const order = { groupBy: 'site', sort: 'liveBytes', descending: true, includeDead: true } as const;
    const window = source.sites({ layer, ...order, from, to: from + WINDOW_ROWS });
    for (const row of siteRows(window)) {
      const { id } = row;
      const site = source.site(id);
      const verdict = verdicts.sites.get(id);
      yield {
        id,
        layer,
        ...sumsOf(row),
        allocatedBytes: row.allocatedBytes,
        bytesPerSecond: row.growth,
        verdict: verdict?.state ?? 'unknown',
        because: verdict?.because ?? 'No training step has ended.',
        bytesPerStep: verdict?.bytesPerStep ?? null,
        sinceStep: verdict?.sinceStep ?? null,
        lineSource: site?.source ?? 'none',
        library: site?.library ?? '',
        cut: site?.cut ?? false,
        userFrame: site?.frames[site.userFrame] ?? null,
        frames: site?.frames ?? [],
      };
    }
    if (window.rows < WINDOW_ROWS) return;
  }
}

function readGroups(source: TraceSource, layer: Layer, groupBy: GroupBy): ReportGroup[] {
  const window = source.sites({ layer, groupBy, sort: 'liveBytes', descending: true, from: 0, to: WINDOW_ROWS });
  return siteRows(window).map(row => ({
    groupBy,
    layer,
    label: row.label,
    ...sumsOf(row),
    bytesPerSecond: row.growth,
  }));
}

function sumsOf({ liveBytes, liveCount, peakBytes, allocations, frees }: SiteRow): Sums {
  return { liveBytes, liveCount, peakBytes, allocations, frees };
}
