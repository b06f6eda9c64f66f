import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { list } from '../../capture/processes/machine';
import { keptTracesRoot, traceRoots } from '../../capture/traces/folders';
import { recordedFolders } from '../../capture/traces/runningTraces';
import { processesIn, reasonOf } from '../../capture/traces/traceDirectory';
import { createLineReader } from '../../native/lineReader';
import { changedMs } from '../../files/files';
import { attempt } from '../../base/attempt';
import { listedPeakBytes, type TraceSource } from '../../protocol/trace';
import type { TraceTime } from '../../protocol/traceTime';
import { isLeak, type Verdicts } from '../../protocol/verdicts';
import { time } from '../arguments/reportArguments';
import { openNamed, type OpenTrace } from '../namedTrace';
import { atChosen, selectionOf, type ChosenMoment } from '../report/chosenMoment';
import { atShown } from '../report/finalMoment';
import { closeTrace } from '../../jobs/openTraceFile';
import { aboutOf, pageOf, type Handler, type Page } from './answer';

/** Traces that are opened for one answer. */
const USUAL = 4;

export interface Where {
  trace: string;
  at?: string;
  from?: string;
}
/** A trace at a moment; its findings are those of the whole where none was named. */
export interface Moment extends Pick<ChosenMoment, 'source' | 'verdicts' | 'peak'> {
  about: ReturnType<typeof aboutOf>;
}

/** The trace that is meant. Throws a sentence. */
export function idOf(where: string): string {
  const id = where === 'latest' ? tracesIn('.')[0] : where;
  if (id === undefined) throw new Error('There is no trace yet. Use run_traced to record one.');
  return id;
}

/** Calls `use` with the trace that is meant. Rejects with a sentence. */
export async function withTrace<T>(where: string, dist: string, use: (opened: OpenTrace, id: string) => Promise<T>) {
  const id = idOf(where);
  const opened = await openNamed(id, dist);
  if ('error' in opened) throw new Error(opened.error);
  try {
    return await use(opened, opened.pid === null ? opened.path : id);
  } finally {
    closeTrace(opened);
  }
}

/** What `use` makes of a trace at a moment, beside what is known of it. Rejects with a sentence. */
export function withMoment({ trace, at, from }: Where, dist: string, use: (then: Moment) => object): Promise<object> {
  return withTrace(trace, dist, async (opened, id) => {
    const body = (moment: string, source: TraceSource, verdicts: Verdicts, peak: Moment['peak'] = null): object => {
      const about = aboutOf(id, opened, verdicts, source);
      return { ...about, moment, ...use({ about, source, verdicts, peak }) };
    };
    const moments = { at: momentOf('at', at ?? (from && '100%')), from: momentOf('from', from) };
    const chosen = selectionOf(moments, opened.session);
    if ('error' in chosen) throw new Error(chosen.error);
    const [ended, { until }] = [{ ...opened, path: opened.trace.path }, chosen];
    if (until === null) {
      const verdicts = verdictsOf(opened.session, createLineReader());
      return atShown(ended, (source, asOf) => body(asOf ?? 'now', source, verdicts));
    }
    const name = chosen.from === null ? until.text : `${chosen.from.text} to ${until.text}`;
    return atChosen(ended, { ...chosen, until }, moments.at, then => body(name, then.source, then.verdicts, then.peak));
  });
}

function momentOf(name: string, text: string | undefined): TraceTime | null {
  return text === undefined || text === 'now' ? null : time(name, text);
}

/** Live ones by their PID, then the newest; kept ones, and those that lie in a folder. */
function tracesIn(folder: string): string[] {
  const recorded = recordedFolders(traceRoots(process.env, process.getuid?.() ?? 0));
  const running = recorded.map(path => [...processesIn(path)].find(pid => existsSync(`/proc/${pid}`)));
  const kept = keptTracesRoot(process.env);
  const files = [kept, ...list(kept).map(name => join(kept, name)), resolve(folder)].flatMap(place =>
    attempt(() => readdirSync(place), []).flatMap(name => (name.endsWith('.gputrace') ? [join(place, name)] : [])),
  );
  const left = [...recorded.filter((_, i) => running[i] === undefined), ...files];
  const ages = new Map(left.map(path => [path, changedMs(path)]));
  return [
    ...running.flatMap(pid => pid ?? []).map(String),
    ...[...ages].sort(([, a], [, b]) => b - a).map(([path]) => path),
  ];
}

export const listTraces: Handler<Page & { folder?: string }> = async ({ folder = '.', ...page }, { dist }) => {
  const all = tracesIn(folder);
  const { from, to, cut } = pageOf(page);
  const traces: object[] = [];
  for (const trace of all.slice(from, page.limit === undefined ? from + USUAL : to))
    traces.push(
      await withMoment({ trace }, dist, factsOf).catch((error: unknown) => ({ trace, unreadable: reasonOf(error) })),
    );
  return cut('traces', traces, all.length);
};

function factsOf({ source, verdicts: { steps, findings } }: Moment): object {
  const { processes, totals, startRealtimeMs } = source.info();
  return {
    command: processes[0]?.command.join(' '),
    pids: processes.map(({ pid }) => pid),
    ...(startRealtimeMs > 0 && { startedAt: new Date(startRealtimeMs).toISOString() }),
    steps: steps.count,
    peakBytes: listedPeakBytes(totals),
    findings: findings.length,
    leaks: findings.filter(isLeak).length,
  };
}
