import { peakInside } from '../../analysis/peakInside';
import { stackedTimeline } from '../../analysis/stackedTimeline';
import { timelineSteps } from '../../analysis/timelineSteps';
import { untilOf } from '../../protocol/moment';
import type { TimelineRequests } from '../../protocol/timelineRequests';
import type { PageModel } from '../page';
import type { Answers } from './answers';
import { openSession, openTrace } from './source';

export function timelineAnswers(model: PageModel): Answers<TimelineRequests> {
  return {
    stackedTimeline: query => stackedTimeline(openTrace(model), query),
    timelineSteps: ({ points }) => timelineSteps(openTrace(model), points),
    peakInside: query => peakInside(openTrace(model), query),
    // The far past is kept in wide buckets; read up to its end, the span is the recent past, which is kept finely.
    exactPeak: async query => {
      const { moments } = openSession(model);
      const reading = moments.reading(query.toNs);
      return { ...reading, peak: reading.done ? peakInside(await moments.at(query.toNs), query) : null };
    },
    readMoment: ({ moment }) => {
      const untilNs = untilOf(moment);
      if (untilNs === null) return { done: true, readNs: 0, untilNs: 0 };
      return openSession(model).moments.reading(untilNs);
    },
    cancelMoments: () => openSession(model).moments.cancel(),
  };
}
