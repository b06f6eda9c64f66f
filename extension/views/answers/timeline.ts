import { peakInside } from '../../analysis/peakInside';
import { stackedTimeline } from '../../analysis/stackedTimeline';
import { timelineSteps } from '../../analysis/timelineSteps';
import { untilOf } from '../../protocol/moment';
import type { TimelineRequests } from '../../protocol/timelineRequests';
import type { PageModel } from '../page';
import type { Answers } from './answers';
import { openSession, openTrace, sourceOf } from './source';

export function timelineAnswers(model: PageModel): Answers<TimelineRequests> {
  return {
    stackedTimeline: query => stackedTimeline(openTrace(model), query),
    timelineSteps: ({ points }) => timelineSteps(openTrace(model), points),
    peakInside: async ({ moment, ...query }) => peakInside((await sourceOf(model, moment)).source, query),
    readMoment: ({ moment }) => {
      const untilNs = untilOf(moment);
      if (untilNs === null) return { done: true, readNs: 0, untilNs: 0 };
      return openSession(model).moments.reading(untilNs);
    },
    cancelMoments: () => openSession(model).moments.cancel(),
  };
}
