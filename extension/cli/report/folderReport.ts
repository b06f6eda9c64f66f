// The traces that lie in a folder. Links are left out: they may lead anywhere.
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { overallVerdict } from '../../analysis/sites/overallVerdict';
import { commandText } from '../../capture/checks/attachTarget';
import { isTraceDirectory, reasonOf } from '../../capture/traces/traceDirectory';
import { changedMs } from '../../files/files';
import { closeTrace, openTrace } from '../../jobs/openTraceFile';
import { createLineReader } from '../../native/lineReader';
import type { TraceSource } from '../../protocol/trace';
import { commandOf } from '../../report/documents/reportDocument';
import { fitEnd } from '../../report/tables/fit';
import { columns } from '../../text/textColumns';
import { escapeForTerminal, textOf } from '../../text/escapeForTerminal';
import { formatCount, formatTimestamp } from '../../text/format';
import type { ReportArguments } from '../arguments/reportArguments';
import { refuse, terminalSize } from '../output/output';
import { writeResult } from '../output/resultFile';
import { jsonChunks } from './jsonChunks';
import { wholeOnly } from './jobReport';

const UNREADABLE = 1;
const USAGE = 2;

/** Lists the traces of a folder that is none itself, newest first. Returns the exit status. */
export async function reportFolder(options: ReportArguments, dist: string): Promise<number> {
  const { file: folder, format, output } = options;
  const problem = wholeOnly(options, 'a folder of traces');
  if (problem !== null) return refuse(problem, USAGE);
  const names = tracesIn(folder);
  if ('error' in names) return refuse(names.error, UNREADABLE);
  const traces: Listed[] = [];
  for (const name of names) traces.push(await listed(folder, name, dist));
  const width = output === null ? (terminalSize(1)?.columns ?? null) : null;
  const chunks = format === 'json' ? jsonChunks({ version: 1, traces }) : [textOf(listLines(traces, width))];
  return writeResult(chunks, output) ? 0 : UNREADABLE;
}

/** Their names, newest first. The error is one sentence. */
function tracesIn(folder: string): string[] | { error: string } {
  try {
    const traces = readdirSync(folder, { withFileTypes: true }).filter(entry => {
      if (entry.isDirectory()) return isTraceDirectory(join(folder, entry.name));
      return entry.isFile() && entry.name.endsWith('.gputrace');
    });
    const how = 'Record one with "gpu-memtrace run -o run.gputrace -- python train.py".';
    if (traces.length === 0) return { error: `There is no trace (*.gputrace) in ${resolve(folder)}. ${how}` };
    const aged = traces.map(({ name }) => ({ name, ms: changedMs(join(folder, name)) }));
    return aged.sort((a, b) => b.ms - a.ms).map(({ name }) => name);
  } catch (error) {
    return { error: `${folder} cannot be read: ${reasonOf(error)}.` };
  }
}

type Listed = ReturnType<typeof factsOf> | { name: string; error: string };

async function listed(folder: string, name: string, dist: string): Promise<Listed> {
  const opened = await openTrace(join(folder, name), dist);
  if ('error' in opened) return { name, error: opened.error };
  try {
    return factsOf(name, opened.session);
  } finally {
    closeTrace(opened);
  }
}

function factsOf(name: string, source: TraceSource) {
  const info = source.info();
  const { overall, sentence } = overallVerdict(info, verdictsOf(source, createLineReader()));
  const { live, events, durationNs, startRealtimeMs } = info;
  const startedAt = startRealtimeMs > 0 ? new Date(startRealtimeMs).toISOString() : null;
  const facts = { command: commandOf(info), startedAt, durationSeconds: durationNs / 1e9, events, live };
  return { name, ...facts, verdict: { state: overall, sentence } };
}

const VERDICTS: Partial<Record<string, string>> = { clean: 'no leak', found: 'leak' };

/** A line each; what cannot be read comes last, with the reason. */
function listLines(traces: readonly Listed[], width: number | null): string[] {
  const rows = traces.flatMap(trace => {
    if ('error' in trace) return [];
    const { name, startedAt, events, live, verdict, command } = trace;
    const when = startedAt === null ? '' : formatTimestamp(new Date(startedAt));
    const state = live ? 'running' : (VERDICTS[verdict.state] ?? 'not judged');
    return [[escapeForTerminal(name), when, ` ${formatCount(events)} events`, ` ${state}`, ` ${commandText(command)}`]];
  });
  const lines = columns(rows, [false, false, true, false, false]).map(line =>
    fitEnd(line.trimEnd(), width ?? Infinity),
  );
  return [...lines, ...traces.flatMap(trace => ('error' in trace ? [trace.error] : []))];
}
