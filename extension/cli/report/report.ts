import { statSync } from 'node:fs';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { attempt } from '../../base/attempt';
import { isSnapshot } from '../../protocol/notes';
import { exitCodeOf, type TraceInfo } from '../../protocol/trace';
import { partsOfFailures, oomReport } from '../../report/documents/oomReport';
import type { GatedRun } from '../../report/gate/gate';
import { peakLines } from '../../report/tables/peak';
import { rangesAt } from '../../protocol/ranges';
import { buildReport } from '../../report/documents/reportDocument';
import { readSnapshot, type Snapshot, type SnapshotOptions } from '../../report/tables/snapshot';
import { fileNotes, renderTable } from '../../report/tables/table';
import { isJobFolder } from '../../capture/traces/jobFolder';
import { unwritable } from '../../capture/traces/keptTraces';
import { isTraceDirectory } from '../../capture/traces/traceDirectory';
import { TraceEngine } from '../../engine/traceEngine';
import { exportTrace } from '../../exporters/exportTrace';
import { htmlChunks } from '../../html/htmlFile';
import { createLineReader } from '../../native/lineReader';
import { textOf } from '../../text/escapeForTerminal';
import type { Compared } from '../arguments/comparedMoment';
import type { ReportArguments } from '../arguments/reportArguments';
import { exportTables, reportJob } from './jobReport';
import { atChosen, momentLines, selectionOf, type ChosenMoment } from './chosenMoment';
import { jsonChunks } from './jsonChunks';
import { compareReport, type ComparedSide } from './compareReport';
import { reportFolder } from './folderReport';
import { gatedRun, gateReport } from './gateReport';
import { exportReport } from './exportReport';
import { momentsOf, shownMoments, withFinal, type EndedTrace } from './finalMoment';
import type { Opened } from '../../jobs/openTraceFile';
import { headLines } from './traceHead';
import { withOpened } from './withOpened';
import { refuse, notify, terminalSize } from '../output/output';
import { writeResult } from '../output/resultFile';
import { endText } from './summary';
import { resolveTraceTime } from '../../report/documents/resolveTraceTime';

const TOP = 50;
const UNREADABLE = 1;
const USAGE = 2;
/** As of `run --fail-on-leak`. */
const ABOVE = 3;

/** Shows or exports a saved trace or a trace directory. Returns the exit status. */
export async function report(options: ReportArguments, dist: string): Promise<number> {
  const tables = options.format === 'parquet' && options.output?.endsWith('/') === true;
  const problem =
    options.output === null || tables
      ? null
      : unwritable(options.output, [options.file, ...options.compare.map(({ file }) => file)]);
  if (problem !== null) return refuse(problem, UNREADABLE);
  if (isJobFolder(options.file)) return reportJob(options, dist);
  const isFolder = attempt(() => statSync(options.file).isDirectory(), false);
  if (isFolder && !isTraceDirectory(options.file)) return reportFolder(options, dist);
  if (options.run !== null) return refuse('--run is only for a job folder. Remove it for a single trace.', USAGE);
  if (tables) return exportTables(options, dist);
  return withOpened(options.file, dist, opened =>
    showTrace(options, opened, dist).catch((error: unknown) =>
      refuse(error instanceof Error ? error.message : String(error), UNREADABLE),
    ),
  );
}

async function showTrace(options: ReportArguments, opened: Opened, dist: string): Promise<number> {
  const { addon, session } = opened;
  const { path: file } = opened.trace; // what a snapshot was turned into
  const { format, output } = options;
  // A table begins with them.
  if (format !== 'table' || output !== null || options.compare.length > 0) fileNotes(session.info()).forEach(notify);
  const selection = selectionOf(options, session);
  if ('error' in selection) return refuse(selection.error, USAGE);
  const { from, until } = selection;
  const [base] = options.compare;
  if (options.failAbove !== null) return gate(options, options.failAbove, opened, dist);
  if (base !== undefined) return compare(options, { ...opened, file: options.file, moment: until }, base, dist);
  if (format !== 'table') for (const moment of [from, until]) if (moment?.near) notify(`As of ${moment.text}.`);
  if (format === 'html') {
    const page = { dist, path: file, redact: options.redact };
    return exportReport(options, format, watch =>
      htmlChunks(send => new TraceEngine(dist, send), { ...page, ...watch }),
    );
  }
  if (format !== 'table' && format !== 'json') {
    const span = { fromNs: from?.ns ?? null, untilNs: until?.ns ?? null };
    return exportReport(options, format, watch =>
      exportTrace(addon, file, format, span, watch, until === null ? undefined : session),
    );
  }
  const trace = { addon, session, path: file };
  if (until === null) return showEnd(options, trace);
  return atChosen(trace, { from, until }, options.at, chosen => show(options, chosen, session.info()));
}

/** From the base to the trace, as `gate` does. */
function compare(options: ReportArguments, trace: ComparedSide, { file, at }: Compared, dist: string): Promise<number> {
  return withOpened(file, dist, async base => {
    fileNotes(base.session.info()).forEach(notify);
    const until = at === null ? null : resolveTraceTime(at, base.session);
    if (until !== null && 'error' in until) return refuse(until.error, USAGE);
    const chunks = await compareReport(options, { ...base, file, moment: until }, trace);
    return writeResult(chunks, options.output) ? 0 : UNREADABLE;
  });
}

/** The run beside others of the version before. */
async function gate(
  options: ReportArguments,
  limit: number,
  { addon, session, trace }: Opened,
  dist: string,
): Promise<number> {
  const bases: GatedRun[] = [];
  for (const { file } of options.compare) {
    const status = await withOpened(file, dist, async base => {
      fileNotes(base.session.info()).forEach(notify);
      bases.push(await gatedRun(base.addon, base.session, base.trace.path, file));
      return 0;
    });
    if (status !== 0) return status;
  }
  const run = await gatedRun(addon, session, trace.path, options.file);
  const { gate: judged, chunks } = gateReport(bases as [GatedRun, ...GatedRun[]], run, {
    limit,
    format: options.format,
  });
  if (!writeResult(chunks, options.output)) return UNREADABLE;
  return judged.passed === null ? UNREADABLE : judged.passed ? 0 : ABOVE;
}

/** All of a trace. */
async function showEnd(options: ReportArguments, trace: EndedTrace): Promise<number> {
  const { session } = trace;
  const verdicts = verdictsOf(session, createLineReader());
  if (options.format === 'json') {
    const document = {
      ...buildReport(session, options.groupBy ?? undefined, verdicts),
      ...(await shownMoments(trace)),
    };
    return writeResult(jsonChunks(document), options.output) ? 0 : UNREADABLE;
  }
  if (options.oom) {
    const document = oomReport(session, verdicts, await partsOfFailures(momentsOf(trace), verdicts.outOfMemory));
    return writeResult([textOf(document)], options.output) ? 0 : UNREADABLE;
  }
  const info = session.info();
  const timeMs = info.startRealtimeMs + info.durationNs / 1e6;
  return withFinal(trace, verdicts, read =>
    writeTable(options, read(rowsOf(options)), { info, timeMs, ended: endText(exitCodeOf(info)) }),
  );
}

/** A moment that the user chose; `info`: of the whole run. */
function show(options: ReportArguments, chosen: ChosenMoment, info: TraceInfo): number {
  const { source, verdicts, from, until, peak } = chosen;
  if (options.format === 'json') {
    const moment = {
      atSeconds: until.ns / 1e9,
      ...(from !== null && { fromSeconds: from.ns / 1e9 }),
      ...(peak !== null && { peak }),
    };
    const document = { ...buildReport(source, options.groupBy ?? undefined, verdicts), moment };
    return writeResult(jsonChunks(document), options.output) ? 0 : UNREADABLE;
  }
  const snapshot = readSnapshot(source, rowsOf(options), verdicts);
  const timeMs = snapshot.info.startRealtimeMs + until.ns / 1e6;
  const inside = source.info().processes.flatMap(process => {
    const path = rangesAt(source, process.index, until.ns);
    return path === '' ? [] : [`${isSnapshot(process) ? 'The program' : `Process ${process.pid}`} was in “${path}”.`];
  });
  const lines = peak === null ? inside : peakLines(peak);
  return writeTable(options, snapshot, { info, timeMs }, [...momentLines(chosen), ...lines]);
}

function rowsOf({ blocks, groupBy }: ReportArguments): SnapshotOptions {
  return { top: blocks ? TOP : null, groupBy: groupBy ?? 'line', groups: TOP };
}

interface Shown {
  /** Of the whole run: its head says how long that was. */
  info: TraceInfo;
  timeMs: number;
  ended?: string | null;
}

function writeTable(
  { file, output }: ReportArguments,
  snapshot: Snapshot,
  { info, timeMs, ended }: Shown,
  head: string[] = [],
) {
  const width = output === null ? (terminalSize(1)?.columns ?? null) : null;
  const table = renderTable(snapshot, { now: new Date(timeMs), width, ended });
  return writeResult([textOf([...headLines(file, info, width), ...head, ...table])], output) ? 0 : UNREADABLE;
}
