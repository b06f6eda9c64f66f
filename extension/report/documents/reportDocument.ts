import type {
  AllocationRow,
  GroupBy,
  Layer,
  ProcessInfo,
  Site,
  SiteRow,
  Totals,
  TraceInfo,
  TraceSource,
} from '../../protocol/trace';
import { exitCodeOf, LAYERS, listedLayer, siteRows, allocationRows } from '../../protocol/trace';
import type { Verdicts } from '../../protocol/verdicts';
import { siteText } from '../../analysis/sites/site';
import { beforeAttachFrees } from '../tables/attached';
import { readModules } from '../trees/modules';
import { groupVerdicts } from '../../analysis/findings/rowVerdicts';
import { reportFindings, reportLedger, reportOutOfMemory, reportSteps, reportVerdict } from './reportVerdicts';
import { fieldsIn } from '../../base/fields';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { leftByCells } from '../../analysis/findings/kinds/cell';
import { cellName } from '../../protocol/notebookCells';
import { CELL, JOB } from '../../protocol/notes';
import { rankOf } from '../../protocol/rank';
import { STREAM_UNKNOWN } from '../../protocol/streams';
import { findThread } from '../../protocol/threads';

/** The JSON document of a trace, version 1. Sizes are bytes; null is "not known". What there may be many of is read as it is written. */
export type Report = ReturnType<typeof buildReport>;

const WINDOW_ROWS = 10_000;

/** Builds the document of all that the trace holds now. `groupBy` adds `groups`. */
export function buildReport(source: TraceSource, groupBy?: GroupBy, verdicts: Verdicts = verdictsOf(source)) {
  const info = source.info();
  const session = readSession(info.session);
  return {
    version: 1 as const,
    command: commandOf(info),
    exitCode: exitCodeOf(info),
    startedAt: new Date(session.startedRealtimeMs ?? info.startRealtimeMs).toISOString(),
    durationSeconds: info.durationNs / 1e9,
    simulated: session.simulated || info.processes.some(process => process.simulated),
    events: info.events,
    lost: info.lost,
    processes: info.processes.map(process => reportProcess(process, session.exitCodes)),
    devices: info.devices,
    totals: info.totals.map(total => reportTotal(total, beforeAttachFrees(info, total))),
    allocations: readAllocations(source, info),
    sites: readSites(source, verdicts),
    steps: reportSteps(info, verdicts),
    ledger: reportLedger(source, info, verdicts),
    /** Of PyTorch's allocator, where it has others than the common one. `line`: which took its biggest segment. */
    pools: source.pools().map(({ process, site, ...pool }) => ({
      ...{ pid: info.processes[process]?.pid ?? 0, ...pool, unusedBytes: pool.reservedBytes - pool.liveBytes },
      line: siteText(source.site(site)),
    })),
    ...reportCells(source, info),
    verdict: reportVerdict(info, verdicts),
    findings: reportFindings(info, verdicts),
    /** The first failed allocations and the newest; how many there were, where these are not all. */
    oom: reportOutOfMemory(info, verdicts),
    ...(info.outOfMemoryCount > info.outOfMemory.length && { oomCount: info.outOfMemoryCount }),
    ...(groupBy !== undefined && { groups: reportGroups(source, verdicts, listedLayer(info.totals), groupBy) }),
  };
}

/** The words of what was recorded: of the program that was started, else of the first process. */
export function commandOf({ session, processes }: TraceInfo): string[] {
  const { command } = readSession(session);
  return command.length > 0 ? command : (processes[0]?.command ?? []);
}

/** What the launcher left; a trace may come without it or with a newer one. */
function readSession(session: Record<string, unknown>) {
  const exitCodes = new Map<number, number>();
  for (const { pid, exitCode } of fieldsIn(session.processes)) {
    if (typeof pid === 'number' && typeof exitCode === 'number') exitCodes.set(pid, exitCode);
  }
  const started = session.startedRealtimeMs;
  return {
    command: Array.isArray(session.command) ? session.command.map(String) : [],
    exitCodes,
    simulated: session.simulated === true,
    startedRealtimeMs: typeof started === 'number' && Number.isFinite(started) ? started : null,
  };
}

function reportProcess(process: ProcessInfo, exitCodes: Map<number, number>) {
  const { pid, parentPid, uid, command, ended, python, driverSource, simulated } = process;
  const exitCode = process.exitCode ?? exitCodes.get(pid) ?? null;
  const facts = { pid, parentPid, uid, command, exitCode, ended, python, driverSource, simulated };
  return {
    ...facts,
    /** Its rank in a job of many, as far as a launcher or torch.distributed reported it. */
    ...(process.notes.some(({ code }) => code === JOB) && { rank: rankOf(process) }),
    threads: process.threads.map(({ tid, name }) => ({ tid, name })),
    notes: process.notes.filter(({ code }) => code !== CELL && code !== JOB).map(note => note.text),
  };
}

/** Of a notebook: its cells with what their runs left. */
function reportCells(source: TraceSource, info: TraceInfo) {
  const cells = leftByCells(source).map(({ process, file, runs, bytes, count, grows }) => ({
    ...{ pid: info.processes[process]?.pid ?? 0, cell: cellName(file), file, liveBytes: bytes, liveCount: count },
    bytesPerRun: grows,
    runs: runs.map(run => ({
      ...{ number: run.number, beginSeconds: run.beginNs / 1e9, endSeconds: run.endNs / 1e9 },
      ...{ liveBytes: run.bytes, liveCount: run.count },
    })),
  }));
  return cells.length > 0 ? { cells } : {};
}

function reportTotal({ process: _process, peakNs: _peakNs, ...total }: Totals, before: number) {
  // Frees of blocks that were there before the tracer came and are not known stand apart.
  return { ...total, unmatchedFrees: total.unmatchedFrees - before, beforeAttachFrees: before };
}

/** What there is of all layers, read in windows as it is written. */
function* ofAllLayers<W extends { rows: number }, T>(
  read: (layer: Layer, window: { from: number; to: number }) => W,
  rowsOf: (window: W, layer: Layer) => Iterable<T>,
): Generator<T> {
  for (const layer of LAYERS) {
    for (let from = 0; ; from += WINDOW_ROWS) {
      const window = read(layer, { from, to: from + WINDOW_ROWS });
      yield* rowsOf(window, layer);
      if (window.rows < WINDOW_ROWS) break;
    }
  }
}

function* readAllocations(source: TraceSource, info: TraceInfo) {
  const order = { sort: 'bytes', descending: true } as const;
  yield* ofAllLayers(
    (layer, part) => source.allocations({ layer, ...order, ...part }),
    window => allocationRows(window).map(row => reportAllocation(info, row)),
  );
}

export function reportAllocation(info: TraceInfo, row: AllocationRow) {
  const { address, bytes, device, layer, ageSteps, name, module, category, askedBytes, stream, pool, site } = row;
  const thread = findThread(info.processes, row.process, row.thread);
  return {
    address: `0x${address.toString(16)}`,
    bytes,
    device,
    pid: info.processes[row.process]?.pid ?? 0,
    tid: thread?.tid ?? 0,
    thread: thread?.name ?? '',
    layer,
    ageSeconds: Math.max(0, info.durationNs - row.timeNs) / 1e9,
    ageSteps,
    name,
    category,
    module,
    /** What the program requested before its allocator rounded it up; null: not recorded. */
    askedBytes: Number.isNaN(askedBytes) ? null : askedBytes,
    /** Handle of the stream, `0x0` = the default one; null: not recorded. */
    stream: stream === STREAM_UNKNOWN ? null : `0x${stream.toString(16)}`,
    /** Pool of the framework's allocator, `0:0` = that of all; null: not recorded. */
    pool: pool === '' ? null : pool,
    site,
  };
}

function* readSites(source: TraceSource, verdicts: Verdicts) {
  const order = { groupBy: 'site', sort: 'liveBytes', descending: true, includeDead: true } as const;
  yield* ofAllLayers(
    (layer, part) => source.sites({ layer, ...order, ...part }),
    (window, layer) => siteRows(window).map(row => reportSite(row, layer, source.site(row.id), verdicts)),
  );
}

function reportSite(row: SiteRow, layer: Layer, site: Site | null, verdicts: Verdicts) {
  const verdict = verdicts.sites.get(row.id);
  return {
    id: row.id,
    layer,
    ...sumsOf(row),
    allocatedBytes: row.allocatedBytes,
    bytesPerSecond: row.growth,
    verdict: verdict?.state ?? 'unknown',
    /** One sentence on why. */
    because: verdict?.because ?? 'No training step has ended.',
    /** Growth of what stays; 0 where it does not grow, null where nothing is known. */
    bytesPerStep: verdict?.bytesPerStep ?? null,
    sinceStep: verdict?.sinceStep ?? null,
    lineSource: site?.source ?? 'none',
    /** Path of the library that called the driver; empty: not known, or not of the driver. */
    library: site?.library ?? '',
    cut: site?.cut ?? false,
    userFrame: site?.frames[site.userFrame] ?? null,
    frames: site?.frames ?? [],
  };
}

function reportGroups(source: TraceSource, verdicts: Verdicts, layer: Layer, groupBy: GroupBy) {
  if (groupBy === 'module-path')
    return readModules(source, { layer }).map(({ label, liveBytes, liveCount, categories }) => ({
      ...{ groupBy, layer, label, liveBytes, liveCount, categories },
    }));
  const window = source.sites({ layer, groupBy, sort: 'liveBytes', descending: true, from: 0, to: WINDOW_ROWS });
  const rows = siteRows(window);
  const judged = groupVerdicts(source, verdicts, rows, groupBy);
  return rows.map((row, i) => ({
    ...{ groupBy, layer, label: row.label, ...sumsOf(row), bytesPerSecond: row.growth },
    /** The worst of its sites, and how fast they grow in all; null where nothing is known. */
    verdict: judged[i]?.state ?? null,
    bytesPerStep: judged[i]?.bytesPerStep ?? null,
  }));
}

function sumsOf({ liveBytes, liveCount, peakBytes, allocations, frees }: SiteRow) {
  return { liveBytes, liveCount, peakBytes, allocations, frees };
}
