import { statSync } from 'node:fs';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { buildReport } from '../../analysis/report/report';
import { readSnapshot } from '../../analysis/report/snapshot';
import { renderTable } from '../../analysis/report/table';
import { unwritable } from '../../capture/traces/keptTraces';
import { reasonOf } from '../../capture/traces/traceDirectory';
import { loadNative, type NativeAddon, type NativeSession } from '../../engine/addon';
import { createLineReader } from '../../engine/sourceLines';
import { traceFile, type TraceFile } from '../../engine/traceFile';
import type { Selection } from '../../exporters/exportInput';
import { formatDuration } from '../../protocol/format';
import { textOf } from '../../protocol/inert';
import type { TraceSource } from '../../protocol/trace';
import type { Compared, TraceTime } from '../arguments/moments';
import type { ReportArguments } from '../arguments/reportArguments';
import { jsonChunks } from './jsonDocument';
import { compareReport } from './compareReport';
import { exportReport } from './exportReport';
import { asAt, atMoment, bornSince } from './momentSource';
import { refuse } from './output';
import { writeResult } from './resultFile';
import { resolveTraceTime } from './traceTime';

const TOP = 50;
const UNREADABLE = 1;
const USAGE = 2;

/** Shows or exports a saved trace or a trace directory. Returns the exit status. */
export async function report(options: ReportArguments, dist: string): Promise<number> {
  const problem = options.output === null ? null : unwritable(options.output);
  if (problem !== null) return refuse(problem, UNREADABLE);
  const opened = await openTrace(options.file, dist);
  if ('error' in opened) return refuse(opened.error, UNREADABLE);
  try {
    return await showTrace({ ...options, file: opened.trace.path }, opened, dist);
  } finally {
    opened.trace.release();
  }
}

async function showTrace(options: ReportArguments, opened: Opened, dist: string): Promise<number> {
  const { addon, session } = opened;
  try {
    const selection = selectionOf(options, session);
    if ('error' in selection) return refuse(selection.error, USAGE);
    if (options.compare !== null)
      return await compare(options, { ...opened, untilNs: selection.untilNs }, options.compare, dist);
    if (options.format !== 'table' && options.format !== 'json')
      return await exportReport(options, options.format, addon, selection);
    const from = { addon, session, path: options.file };
    return await atMoment(from, selection.untilNs, then => show(options, then, selection));
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), UNREADABLE);
  } finally {
    session.close();
  }
}

async function compare(
  options: ReportArguments,
  first: Opened & { untilNs: number | null },
  { file, at }: Compared,
  dist: string,
): Promise<number> {
  const second = await openTrace(file, dist);
  if ('error' in second) return refuse(second.error, UNREADABLE);
  try {
    const untilNs = at === null ? null : resolveTraceTime(at, second.session);
    if (typeof untilNs === 'object' && untilNs !== null) return refuse(untilNs.error, USAGE);
    const chunks = await compareReport(options, { ...first, file: options.file }, { ...second, file, untilNs });
    return writeResult(chunks, options.output) ? 0 : UNREADABLE;
  } finally {
    second.session.close();
    second.trace.release();
  }
}

interface Opened {
  addon: NativeAddon;
  session: NativeSession;
  trace: TraceFile;
}

async function openTrace(file: string, dist: string): Promise<Opened | { error: string }> {
  try {
    statSync(file);
  } catch (error) {
    return { error: `${file} cannot be read: ${reasonOf(error)}.` };
  }
  const loaded = loadNative(dist);
  if ('error' in loaded) return loaded;
  try {
    const trace = await traceFile(loaded.addon, file);
    const session = loaded.addon.open(trace.path);
    await session.settle();
    return { addon: loaded.addon, session, trace };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** The moments that are asked for, in nanoseconds of the session. */
function selectionOf({ at, from }: ReportArguments, source: TraceSource): Selection | { error: string } {
  const resolve = (time: TraceTime | null): number | { error: string } | null =>
    time === null ? null : resolveTraceTime(time, source);
  const [untilNs, fromNs] = [resolve(at), resolve(from)];
  if (typeof untilNs === 'object' && untilNs !== null) return untilNs;
  if (typeof fromNs === 'object' && fromNs !== null) return fromNs;
  if (fromNs === null || untilNs === null || fromNs <= untilNs) return { fromNs, untilNs };
  return {
    error: `--between goes from the earlier to the later: ${formatDuration(fromNs)} is after ${formatDuration(untilNs)}.`,
  };
}

function show({ format, groupBy, output }: ReportArguments, session: NativeSession, selection: Selection): number {
  const verdicts = verdictsOf(session, createLineReader());
  const source = sourceOf(session, selection);
  if (format === 'json') {
    const document = buildReport(source, groupBy ?? undefined, verdicts);
    const { untilNs, fromNs } = selection;
    const moment = { ...seconds('atSeconds', untilNs), ...seconds('fromSeconds', fromNs) };
    return writeResult(jsonChunks(untilNs === null ? document : { ...document, moment }), output) ? 0 : UNREADABLE;
  }
  const snapshot = readSnapshot(source, { top: TOP, groupBy: groupBy ?? 'line', groups: TOP }, verdicts);
  const { startRealtimeMs, durationNs } = snapshot.info;
  const now = new Date(startRealtimeMs + (selection.untilNs ?? durationNs) / 1e6);
  const lines = [...momentLines(selection), ...renderTable(snapshot, { now, final: true })];
  return writeResult([textOf(lines)], output) ? 0 : UNREADABLE;
}

function sourceOf(session: NativeSession, { fromNs, untilNs }: Selection): TraceSource {
  if (untilNs === null) return session;
  const then = asAt(session, untilNs);
  return fromNs === null ? then : bornSince(then, fromNs);
}

function seconds(name: string, ns: number | null): Record<string, number> {
  return ns === null ? {} : { [name]: ns / 1e9 };
}

function momentLines({ fromNs, untilNs }: Selection): string[] {
  if (untilNs === null) return [];
  if (fromNs === null) return [`AT ${formatDuration(untilNs)} of the trace`];
  return [
    `BETWEEN ${formatDuration(fromNs)} and ${formatDuration(untilNs)} of the trace: what was allocated then and was ` +
      'alive at its end.',
    'Peaks and the numbers of allocations and frees run from the trace’s begin.',
  ];
}
