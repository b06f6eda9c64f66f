import { peakAgain, peakInside } from '../../analysis/ledger/peakInside';
import { JUST_AFTER_NS } from '../../report/tables/ending';
import { peakPlace } from '../../report/tables/nextPeak';
import {
  buildUpsOf,
  explainPeak,
  nextPeakSentence,
  peakModules,
  peakSentence,
  type PeakParts,
} from '../../report/tables/peak';
import { stepsBuildUpTitle, toothBefore } from '../../report/tables/stepsBuildUp';
import { stackedTimeline } from '../../report/tables/stackedTimeline';
import { timelineSteps } from '../../report/tables/timelineSteps';
import { CLOCK_NS, untilOf, type Moment } from '../../protocol/requests/moment';
import type { TraceSession } from '../../native/traceSession';
import type {
  ColouredStack,
  PeakCard,
  Scope,
  StackBy,
  StackGroup,
  StackQuery,
  TimelineRequests,
} from '../../protocol/requests/timelineRequests';
import type { Answers, PageModel } from './answers';

/** The groups of one revision are worked out once, however many pages request them. */
const stacks = new WeakMap<TraceSession, { key: string; stack: ColouredStack }>();

async function stackOf({ shown }: PageModel, query: StackQuery): Promise<ColouredStack> {
  const { session, ending } = shown;
  const key = `${session.native.revision()} ${ending?.timeNs} ${JSON.stringify(query)}`;
  const known = stacks.get(session);
  if (known?.key === key) return known.stack;
  // Of an end that holds little nothing would be the biggest.
  const found = stackedTimeline(ending === null ? session.native : await session.moments.at(ending.timeNs), query);
  const names = found.groups.map(group => nameOf(group, query.by));
  const stack = { ...found, slots: shown.colourGroups(query.by, names), hues: [...shown.hues] };
  stacks.set(session, { key, stack });
  return stack;
}

/** What is the same for a group in every answer: of a line, its name. */
function nameOf({ file, line, source, category, process, thread }: StackGroup, by: StackBy): string {
  if (by === 'line') return line > 0 ? `${file}:${line}` : source;
  return by === 'category' ? category : `${process}:${thread}`;
}

const MODULES = 6;

async function peakAt(
  { native, moments }: TraceSession,
  ns: number,
  { process = -1, device = -1 }: Scope = {},
): Promise<PeakParts | null> {
  const place = await peakPlace(
    native,
    ns,
    async (untilNs, read) => read(await moments.at(untilNs)),
    total => (process < 0 || total.process === process) && (device < 0 || total.device === device),
  );
  return place && explainPeak(await moments.at(ns), place);
}

/** Of the run's peak; reads the trace up to it only where something may have built up. */
export async function builtUpTitle({ shown: { session } }: PageModel): Promise<string> {
  const { live, totals } = session.native.info();
  const [most] = totals.filter(({ layer }) => layer === 'tensor').sort((a, b) => b.peakBytes - a.peakBytes);
  if (live || most === undefined || toothBefore(session.native, most, most.peakNs) === null) return '';
  const over = (await peakAt(session, most.peakNs + JUST_AFTER_NS))?.stepsBuildUp ?? null;
  return over === null ? '' : stepsBuildUpTitle(over);
}

async function peakCardOf(
  { shown: { session } }: PageModel,
  { moment, ...scope }: Scope & { moment: Moment },
): Promise<PeakCard | null> {
  const ns = untilOf(moment);
  const peak = ns === null ? null : await peakAt(session, ns, scope);
  if (peak === null) return null;
  const modules = peakModules(peak).map(({ label, liveBytes: bytes }) => ({ label, bytes }));
  return {
    sentence: peakSentence(peak),
    ...{ place: peak.place, bytes: peak.bytes, categories: peak.categories },
    modules: modules.slice(0, MODULES),
    modulesLeftOut: Math.max(0, modules.length - MODULES),
    buildUp: buildUpsOf(peak),
    next: nextPeakSentence(peak),
  };
}

export function timelineAnswers(model: PageModel): Answers<TimelineRequests> {
  const { native, moments } = model.shown.session;
  return {
    stackedTimeline: query => stackOf(model, query),
    timelineSteps: ({ points }) => timelineSteps(native, points),
    passes: query => native.passes(query),
    ranges: query => native.ranges(query),
    peakCard: query => peakCardOf(model, query),
    peakInside: query => peakInside(native, query),
    // The far past is kept in wide buckets; read up to a little after it, it is the recent past, which is kept finely.
    exactPeak: async ({ bytes, ...query }) => {
      const untilNs = query.toNs + CLOCK_NS;
      const reading = moments.reading(untilNs);
      return { ...reading, peak: reading.done ? peakAgain(await moments.at(untilNs), query, bytes) : null };
    },
    readMoment: async ({ moment }) => {
      const untilNs = untilOf(moment);
      if (untilNs === null) return { done: true, readNs: 0, untilNs: 0 };
      const reading = moments.reading(untilNs);
      return reading.done ? { ...reading, bytes: await model.shown.bytesAt(untilNs) } : reading;
    },
    cancelMoments: () => moments.cancel(),
  };
}
