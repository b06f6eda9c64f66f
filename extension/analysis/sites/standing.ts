import { formatCount, formatDuration, formatPlural } from '../../protocol/format';
import type { TraceInfo } from '../../protocol/trace';
import type { Standing } from '../../protocol/requests/verdictRequests';
import type { Verdicts } from '../../protocol/verdicts';
import { lostShareOf } from './context';
import { THRESHOLDS as T } from '../series/thresholds';

/** Steps from which on a leak in each step is told. */
const FIRST_STEPS = T.warmupSteps + T.mostEvents;

/** How far judging is, and that in one sentence. */
export function standingOf(info: TraceInfo, verdicts: Verdicts): { standing: Standing; sentence: string } {
  if (verdicts.findings.length > 0) return { standing: 'found', sentence: foundText(verdicts) };
  const share = lostShareOf(info);
  if (share > T.lostShare) {
    const percent = `${(100 * share).toFixed(0)} %`;
    const sentence = `Unknown: ${percent} of the events were lost. It takes a run that records them all to tell what leaks.`;
    return { standing: 'lost', sentence };
  }
  const lacking = lackingText(info, verdicts);
  if (lacking !== null) return { standing: 'waiting', sentence: lacking };
  return { standing: 'clean', sentence: cleanText(verdicts) };
}

function foundText({ findings }: Verdicts): string {
  const leaks = findings.filter(finding => finding.verdict === 'leak').length;
  const others = findings.length - leaks;
  const parts = [leaks > 0 ? formatPlural(leaks, 'leak') : '', others > 0 ? formatPlural(others, 'other finding') : ''];
  return parts.filter(part => part !== '').join(', ');
}

/** What is missing for a verdict on any line; null: nothing. */
function lackingText(info: TraceInfo, { steps }: Verdicts): string | null {
  const { count, source } = steps;
  if (source === 'time') return lackingTime(info, count);
  const more = FIRST_STEPS - count;
  if (source !== 'none' && more <= 0) return null;
  if (!info.live) return `The run ended after ${formatPlural(count, 'step')}: too few to tell what leaks.`;
  if (count === 0) return `Waits for the first training step to end; ${FIRST_STEPS} of them tell what leaks.`;
  return `Waits for ${formatPlural(more, 'more step')} to tell what leaks.`;
}

function lackingTime(info: TraceInfo, count: number): string | null {
  const more = T.timeSlices - count;
  if (more <= 0) return null;
  if (!info.live) return 'The run ended before a training step or enough time had passed to tell what leaks.';
  const slice = Math.max(0, ...info.steps.map(steps => steps.sliceNs ?? 0));
  const when = slice > 0 ? `about ${formatDuration(more * slice)} more of the run` : 'more time';
  return `No training step is known yet: to tell what leaks takes ${when}.`;
}

function cleanText({ steps, sites }: Verdicts): string {
  const waiting = [...sites.values()].filter(site => site.state === 'unknown').length;
  const unit = steps.source === 'time' ? 'slice of time' : 'step';
  const units = steps.source === 'time' ? 'slices of time' : 'steps';
  const after = `Nothing leaks after ${formatPlural(steps.count, unit, units)}.`;
  if (waiting === 0) return after;
  const [stacks, need] = [formatPlural(waiting, 'stack'), waiting === 1 ? 'needs' : 'need'];
  return `${after} ${stacks} of ${formatCount(sites.size)} still ${need} more to tell.`;
}
