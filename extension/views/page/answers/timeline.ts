import { peakAgain, peakInside } from '../../../analysis/ledger/peakInside';
import { stackedTimeline } from '../../../analysis/report/stackedTimeline';
import { timelineSteps } from '../../../analysis/report/timelineSteps';
import { untilOf } from '../../../protocol/requests/moment';
import type { TraceSession } from '../../../engine/session';
import type { StackedTimeline, StackQuery, TimelineRequests } from '../../../protocol/requests/timelineRequests';
import type { PageModel } from '../model';
import type { Answers } from './answers';
import { openSession, openTrace } from './source';

/** The clock of a process that runs is known the better the longer it ran: times of its begin move by less than this. */
const CLOCK_NS = 500_000;

/** The groups of one revision are worked out once, however many pages ask. */
const stacks = new WeakMap<TraceSession, { key: string; stack: StackedTimeline }>();

async function stackOf(model: PageModel, query: StackQuery): Promise<StackedTimeline> {
  const session = openSession(model);
  const ending = model.shown?.ending ?? null;
  const key = `${session.native.revision()} ${ending?.timeNs} ${JSON.stringify(query)}`;
  const known = stacks.get(session);
  if (known?.key === key) return known.stack;
  // Of an end that holds little nothing would be the biggest.
  const stack = stackedTimeline(ending === null ? session.native : await session.moments.at(ending.timeNs), query);
  stacks.set(session, { key, stack });
  return stack;
}

export function timelineAnswers(model: PageModel): Answers<TimelineRequests> {
  return {
    stackedTimeline: query => stackOf(model, query),
    timelineSteps: ({ points }) => timelineSteps(openTrace(model), points),
    peakInside: query => peakInside(openTrace(model), query),
    // The far past is kept in wide buckets; read up to a little after it, it is the recent past, which is kept finely.
    exactPeak: async ({ bytes, ...query }) => {
      const { moments } = openSession(model);
      const untilNs = query.toNs + CLOCK_NS;
      const reading = moments.reading(untilNs);
      return { ...reading, peak: reading.done ? peakAgain(await moments.at(untilNs), query, bytes) : null };
    },
    readMoment: ({ moment }) => {
      const untilNs = untilOf(moment);
      if (untilNs === null) return { done: true, readNs: 0, untilNs: 0 };
      return openSession(model).moments.reading(untilNs);
    },
    cancelMoments: () => openSession(model).moments.cancel(),
  };
}
