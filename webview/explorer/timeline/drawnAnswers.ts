// What the timeline draws beside the host's facts.
import type {
  ColouredStack,
  MomentReading,
  PeakCard,
  TimelineSteps,
} from '../../../extension/protocol/requests/timelineRequests';
import type { NamedRange, PassBegins } from '../../../extension/protocol/trace';
import type { TimelineData } from './data';

/** What the host answered; null: not (yet), or not for what is shown. */
export interface DrawnAnswers {
  data: TimelineData | null;
  stack: ColouredStack | null;
  steps: TimelineSteps | null;
  passes: PassBegins;
  ranges: readonly NamedRange[];
  /** The peak that is shown. */
  peak: PeakCard | null;
  /** Bytes that were allocated in the span and are still alive. */
  kept: number | null;
  /** The moment that is being read. */
  reading: MomentReading | null;
}
export const NO_ANSWERS: DrawnAnswers = {
  ...{ data: null, stack: null, steps: null, kept: null, reading: null, peak: null },
  passes: new Float64Array(),
  ranges: [],
};
