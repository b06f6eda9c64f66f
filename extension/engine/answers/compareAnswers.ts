import { t } from '@vscode/l10n';
import { compareHoldings, type Holding, holdingsAtStep, readHoldings } from '../../report/gate/compareHoldings';
import { compareRuns, type JudgedRun } from '../../report/gate/compareRuns';
import { timelineSteps } from '../../report/tables/timelineSteps';
import type { TraceSession } from '../../native/traceSession';
import { cwdOf } from '../../protocol/cwd';
import { marksOf } from '../../protocol/marks';
import type {
  ComparedTrace,
  ComparePoint,
  CompareQuery,
  CompareRequests,
} from '../../protocol/requests/compareRequests';
import { listedLayer, type StepAxis } from '../../protocol/trace';
import type { FollowedTrace } from '../followedTrace';
import type { Answers, NamedTrace, PageModel } from './answers';
import { remembered } from '../../base/maps';

const MOST_STEPS = 24;
/** The most that a series of steps has (`LedgerSeriesQuery.points`). */
const MOST_POINTS = 2_048;
/** A trace is remembered at so many moments. */
const MOST_MOMENTS = 4;

const read = new WeakMap<TraceSession, Map<string, Holding[]>>();

export function compareAnswers(
  model: PageModel,
): Answers<Pick<CompareRequests, 'compareRuns' | 'compareTraces' | 'compare'>> {
  return {
    compareRuns: async ({ before }) => {
      const run = (await model.traces()).find(({ id }) => id === before);
      return run === undefined ? null : compareRuns(await judged(run.trace), await judged(model.shown));
    },
    compareTraces: async () => (await model.traces()).map(one => describe(one, model.shown)),
    compare: async query => {
      const traces = await model.traces();
      const [a, b] = [traceOf(traces, query.a), traceOf(traces, query.b)];
      const sameRun = a.trace === b.trace;
      const limited = sameRun ? query : { ...query, process: -1, device: -1 };
      const [before, after] = [await holdings(a, query.a, limited), await holdings(b, query.b, limited)];
      const cwd = ({ trace }: NamedTrace): string => cwdOf(trace.session.native.info().session);
      return compareHoldings(before, after, { cwdA: cwd(a), cwdB: cwd(b), sameRun }, query.rows);
    },
  };
}

async function judged({ session, verdicts }: FollowedTrace): Promise<JudgedRun> {
  return { source: session.native, verdicts: (await verdicts.verdictsNow()).verdicts };
}

function traceOf(traces: readonly NamedTrace[], { trace }: ComparePoint): NamedTrace {
  const found = traces.find(({ id }) => id === trace);
  if (found === undefined) throw new Error(t('That trace is closed. Choose another one to compare with.'));
  return found;
}

/** What is alive at a moment. A moment of the past stays what it is, so it is read once. */
async function holdings({ trace }: NamedTrace, point: ComparePoint, query: CompareQuery): Promise<Holding[]> {
  const { session, ending } = trace;
  const { by, layer, process, device } = query;
  const holdingsQuery = { by, layer, process, device };
  const timeNs = point.timeNs ?? ending?.timeNs ?? null;
  // Within a step, what it takes for itself would be a difference.
  const atStep = session.native.info().live ? holdingsAtStep(session.native, holdingsQuery, timeNs, MOST_STEPS) : null;
  if (atStep !== null) return atStep;
  if (timeNs === null) return readHoldings(session.native, holdingsQuery);
  const known = remembered(read, session, () => new Map<string, Holding[]>());
  const key = JSON.stringify([timeNs, holdingsQuery]);
  const found = known.get(key) ?? readHoldings(await session.moments.at(timeNs), holdingsQuery);
  known.delete(key);
  known.set(key, found);
  for (const oldest of known.keys()) if (known.size > MOST_MOMENTS) known.delete(oldest);
  return found;
}

function describe({ id, trace, ...words }: NamedTrace, shown: FollowedTrace): ComparedTrace {
  const { session, ending } = trace;
  const info = session.native.info();
  const layer = listedLayer(info.totals);
  const peak = info.totals
    .filter(total => total.layer === layer && total.peakBytes > 0)
    .reduce((most, total) => (total.peakBytes > most.peakBytes ? total : most), { peakBytes: 0, peakNs: 0 });
  return {
    trace: id,
    ...words,
    startMs: info.startRealtimeMs,
    live: info.live,
    marks: marksOf(info),
    steps: stepsOf(trace),
    peakNs: peak.peakBytes > 0 ? peak.peakNs : null,
    ending,
    common: trace === shown ? null : commonStep(trace, shown),
  };
}

function commonStep(own: FollowedTrace, shown: FollowedTrace): ComparedTrace['common'] {
  const [ends, others] = [own, shown].map(trace => {
    const axis = timelineSteps(trace.session.native, MOST_POINTS).axis;
    return new Map(axis === null ? [] : stepEnds(trace, axis).map(({ step, endNs }) => [step, Math.round(endNs)]));
  });
  const step = [...ends!.keys()].findLast(one => others!.has(one));
  return step === undefined ? null : { step, ownNs: ends!.get(step)!, shownNs: others!.get(step)! };
}

/** The end of a step that is shown instead of the trace's has the time at which it is shown: it is one moment. */
function stepEnds(
  { ending }: FollowedTrace,
  { last, endNs }: Pick<StepAxis, 'last' | 'endNs'>,
): ComparedTrace['steps'] {
  return Array.from(last, (step, i) => ({ step, endNs: step === ending?.step ? ending.timeNs : (endNs[i] ?? 0) }));
}

/** Steps that the program made, of the process that made most. */
function stepsOf(trace: FollowedTrace): ComparedTrace['steps'] {
  const { native } = trace.session;
  const counted = native.info().steps.filter(({ source, count }) => source !== 'time' && count > 0);
  const [most] = counted.sort((a, b) => b.count - a.count);
  if (most === undefined) return [];
  const axis = native.siteSeries({ process: most.process, layer: 'tensor', from: 0, to: 0, points: MOST_STEPS });
  return stepEnds(trace, axis).reverse();
}
