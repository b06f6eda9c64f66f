import { statSync } from 'node:fs';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { modulesAtFailures, oomReport } from '../../analysis/report/oomReport';
import { peakPlace, type PeakPlace } from '../../analysis/report/nextPeak';
import type { GatedRun } from '../../analysis/report/gate';
import { explainPeak, peakLines } from '../../analysis/report/peak';
import { rangesAt } from '../../protocol/ranges';
import { buildReport, exitCodeOf } from '../../analysis/report/report';
import { readSnapshot, type Snapshot, type SnapshotOptions } from '../../analysis/report/snapshot';
import { fileNotes, renderTable } from '../../analysis/report/table';
import { wakeRecorder } from '../../capture/launch/recorder';
import { unwritable } from '../../capture/traces/keptTraces';
import { reasonOf } from '../../capture/traces/traceDirectory';
import { loadNative, type NativeAddon, type NativeSession } from '../../engine/addon';
import { createLineReader } from '../../engine/sourceLines';
import { traceFile, type TraceFile } from '../../engine/traceFile';
import { formatDuration } from '../../protocol/format';
import { textOf } from '../../protocol/inert';
import type { TraceSource } from '../../protocol/trace';
import type { Compared, TraceTime } from '../arguments/moments';
import type { ReportArguments } from '../arguments/reportArguments';
import { jsonChunks } from './jsonDocument';
import { compareReport } from './compareReport';
import { gatedRun, gateReport } from './gateReport';
import { exportReport } from './exportReport';
import { momentsOf, shownMoment, withFinal, type EndedTrace } from './finalMoment';
import { asAt, atMoment, bornSince } from './momentSource';
import { refuse, say, terminalSize } from './output';
import { writeResult } from './resultFile';
import { endText } from './summary';
import { resolveTraceTime, type NamedMoment } from './traceTime';

const TOP = 50;
const UNREADABLE = 1;
const USAGE = 2;
/** As of `run --fail-on-leak`. */
const ABOVE = 3;

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
    const { format, output } = options;
    // A table begins with them.
    if (format !== 'table' || output !== null || options.compare.length > 0) fileNotes(session.info()).forEach(say);
    const selection = selectionOf(options, session);
    if ('error' in selection) return refuse(selection.error, USAGE);
    const { from, until } = selection;
    const [base] = options.compare;
    if (options.failAbove !== null) return await gate(options, options.failAbove, opened, dist);
    if (base !== undefined) return await compare(options, { ...opened, ...momentOf(until) }, base, dist);
    if (format !== 'table') for (const moment of [from, until]) if (moment?.near) say(`As of ${moment.text}.`);
    if (format !== 'table' && format !== 'json')
      return await exportReport(options, format, addon, { fromNs: from?.ns ?? null, untilNs: until?.ns ?? null });
    const trace = { addon, session, path: options.file };
    if (until === null) return await showEnd(options, trace);
    const ran = !session.info().live && until.ns < session.info().durationNs;
    const readAt = <T>(ns: number, read: (then: NativeSession) => T): Promise<T> => atMoment(trace, ns, read);
    const { at } = options;
    // The moment is a peak, and it is explained.
    const isPeak = from === null && at !== null && (at === 'peak' || 'peakOf' in at);
    const peak = isPeak ? await peakPlace(session, until.ns, readAt) : null;
    return await atMoment(trace, until.ns, then => show(options, then, { from, until, ran, peak }));
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), UNREADABLE);
  } finally {
    session.close();
  }
}

async function compare(
  options: ReportArguments,
  first: Opened & Moment,
  { file, at }: Compared,
  dist: string,
): Promise<number> {
  const second = await openTrace(file, dist);
  if ('error' in second) return refuse(second.error, UNREADABLE);
  try {
    fileNotes(second.session.info()).forEach(say);
    const until = at === null ? null : resolveTraceTime(at, second.session);
    if (until !== null && 'error' in until) return refuse(until.error, USAGE);
    const chunks = await compareReport(
      options,
      { ...first, file: options.file },
      { ...second, file, ...momentOf(until) },
    );
    return writeResult(chunks, options.output) ? 0 : UNREADABLE;
  } finally {
    second.session.close();
    second.trace.release();
  }
}

/** The run beside others of the version before. */
async function gate(
  options: ReportArguments,
  limit: number,
  { addon, session }: Opened,
  dist: string,
): Promise<number> {
  const bases: GatedRun[] = [];
  for (const { file } of options.compare) {
    const base = await openTrace(file, dist);
    if ('error' in base) return refuse(base.error, UNREADABLE);
    try {
      fileNotes(base.session.info()).forEach(say);
      bases.push(await gatedRun(base.addon, base.session, base.trace.path, file));
    } finally {
      base.session.close();
      base.trace.release();
    }
  }
  const run = await gatedRun(addon, session, options.file, options.file);
  const { gate: judged, chunks } = gateReport(bases as [GatedRun, ...GatedRun[]], run, {
    limit,
    format: options.format,
  });
  if (!writeResult(chunks, options.output)) return UNREADABLE;
  return judged.passed === null ? UNREADABLE : judged.passed ? 0 : ABOVE;
}

interface Moment {
  untilNs: number | null;
  when: string | null;
}

/** A moment, and what it is called; null: the end. */
function momentOf(until: NamedMoment | null): Moment {
  return { untilNs: until?.ns ?? null, when: until?.text ?? null };
}

interface Selection {
  from: NamedMoment | null;
  until: NamedMoment | null;
}

interface ChosenMoment extends Selection {
  until: NamedMoment;
  /** null: it is no peak. */
  peak: PeakPlace | null;
  /** The program has ended, but not by then. */
  ran: boolean;
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
    wakeRecorder(dist, trace.path);
    const session = loaded.addon.open(trace.path);
    await session.settle();
    return { addon: loaded.addon, session, trace };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** The moments that are asked for. */
function selectionOf({ at, from }: ReportArguments, source: TraceSource): Selection | { error: string } {
  const resolve = (time: TraceTime | null) => (time === null ? null : resolveTraceTime(time, source));
  const [until, first] = [resolve(at), resolve(from)];
  if (until !== null && 'error' in until) return until;
  if (first !== null && 'error' in first) return first;
  if (first === null || until === null || first.ns <= until.ns) return { from: first, until };
  const [earlier, later] = [formatDuration(first.ns), formatDuration(until.ns)];
  return { error: `--between goes from the earlier to the later: ${earlier} is after ${later}.` };
}

/** All of a trace. */
async function showEnd(options: ReportArguments, trace: EndedTrace): Promise<number> {
  const { session } = trace;
  const verdicts = verdictsOf(session, createLineReader());
  if (options.format === 'json') {
    const document = { ...buildReport(session, options.groupBy ?? undefined, verdicts), ...shownMoment(session) };
    return writeResult(jsonChunks(document), options.output) ? 0 : UNREADABLE;
  }
  if (options.oom) {
    const document = oomReport(session, verdicts, await modulesAtFailures(momentsOf(trace), verdicts.outOfMemory));
    return writeResult([textOf(document)], options.output) ? 0 : UNREADABLE;
  }
  const info = session.info();
  const timeMs = info.startRealtimeMs + info.durationNs / 1e6;
  return withFinal(trace, verdicts, read =>
    writeTable(options, read(rowsOf(options)), { timeMs, ended: endText(exitCodeOf(info)) }),
  );
}

/** A moment that the user chose. */
function show(options: ReportArguments, session: NativeSession, chosen: ChosenMoment): number {
  const [fromNs, untilNs] = [chosen.from?.ns ?? null, chosen.until.ns];
  const verdicts = verdictsOf(session, createLineReader());
  const then = asAt(session, untilNs);
  const source = fromNs === null ? then : bornSince(then, fromNs);
  const peak = chosen.peak && explainPeak(then, chosen.peak);
  if (options.format === 'json') {
    const moment = {
      atSeconds: untilNs / 1e9,
      ...(fromNs !== null && { fromSeconds: fromNs / 1e9 }),
      ...(peak !== null && { peak }),
    };
    const document = { ...buildReport(source, options.groupBy ?? undefined, verdicts), moment };
    return writeResult(jsonChunks(document), options.output) ? 0 : UNREADABLE;
  }
  const snapshot = readSnapshot(source, rowsOf(options), verdicts);
  const timeMs = snapshot.info.startRealtimeMs + untilNs / 1e6;
  const inside = then.info().processes.flatMap(({ index, pid }) => {
    const path = rangesAt(then, index, untilNs);
    return path === '' ? [] : [`Process ${pid} was in "${path}".`];
  });
  const lines = peak === null ? inside : peakLines(peak);
  return writeTable(options, snapshot, { timeMs }, [...momentLines(chosen), ...lines]);
}

function rowsOf({ blocks, groupBy }: ReportArguments): SnapshotOptions {
  return { top: blocks ? TOP : null, groupBy: groupBy ?? 'line', groups: TOP };
}

interface Shown {
  timeMs: number;
  ended?: string | null;
}

function writeTable({ output }: ReportArguments, snapshot: Snapshot, { timeMs, ended }: Shown, head: string[] = []) {
  const width = output === null ? (terminalSize(1)?.columns ?? null) : null;
  const table = renderTable(snapshot, { now: new Date(timeMs), width, ended });
  return writeResult([textOf([...head, ...table])], output) ? 0 : UNREADABLE;
}

function momentLines({ from, until, ran }: ChosenMoment): string[] {
  const judged = ran ? ['Findings are as of then, while the program was still running: its end may tell more.'] : [];
  if (from === null) return [`AT ${until.text} of the trace`, ...judged];
  return [
    `BETWEEN ${from.text} and ${until.text} of the trace: what was allocated in that time and was alive at the ` +
      'end of it.',
    'Findings, peaks, and the numbers of allocations and frees count from the beginning of the trace.',
    ...judged,
  ];
}
