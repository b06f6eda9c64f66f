import { t } from '@vscode/l10n';
import { formatCount, formatDuration } from '../../protocol/format';
import type { TraceInfo } from '../../protocol/trace';
import type { Standing } from '../../protocol/requests/verdictRequests';
import { isLeak, type Verdicts } from '../../protocol/verdicts';
import { lostShareOf } from './context';
import { THRESHOLDS as T } from '../series/thresholds';
import { stepsText } from '../words';

/** Steps from which on a leak in each step is told. */
const FIRST_STEPS = T.warmupSteps + T.mostEvents;

/** How far judging is, and that in one sentence. */
export function standingOf(info: TraceInfo, verdicts: Verdicts): { standing: Standing; sentence: string } {
  if (verdicts.findings.length > 0) return { standing: 'found', sentence: foundText(verdicts) };
  const share = lostShareOf(info);
  if (share > T.lostShare) {
    const percent = `${(100 * share).toFixed(0)} %`;
    const text = t(
      'Unknown: {0} of the events were lost. Only a run that records them all can tell what leaks.',
      percent,
    );
    return { standing: 'lost', sentence: text };
  }
  const lacking = lackingText(info, verdicts);
  if (lacking !== null) return { standing: 'waiting', sentence: lacking };
  return { standing: 'clean', sentence: cleanText(verdicts) };
}

function foundText({ findings }: Verdicts): string {
  const leaks = findings.filter(isLeak).length;
  const others = findings.length - leaks;
  const parts: string[] = [];
  if (leaks > 0) parts.push(leaks === 1 ? t('1 leak') : t('{0} leaks', formatCount(leaks)));
  if (others > 0) parts.push(others === 1 ? t('1 other finding') : t('{0} other findings', formatCount(others)));
  return parts.join(', ');
}

/** What is missing for a verdict on any line; null: nothing. */
function lackingText(info: TraceInfo, { steps }: Verdicts): string | null {
  const { count, source } = steps;
  if (source === 'time') return lackingTime(info, count);
  const more = FIRST_STEPS - count;
  if (source !== 'none' && more <= 0) return null;
  if (!info.live) return t('The run ended after {0}: too few to tell what leaks.', stepsText(count));
  if (count === 0) return t('Waiting for the first training step to end; {0} of them tell what leaks.', FIRST_STEPS);
  return more === 1 ? t('Needs 1 more step to tell what leaks.') : t('Needs {0} more steps to tell what leaks.', more);
}

function lackingTime(info: TraceInfo, count: number): string | null {
  const more = T.timeSlices - count;
  if (more <= 0) return null;
  if (!info.live) return t('The run ended before a training step or enough time had passed to tell what leaks.');
  const slice = Math.max(0, ...info.steps.map(steps => steps.sliceNs ?? 0));
  return slice > 0
    ? t(
        'No training step is known yet: telling what leaks takes about {0} more of the run.',
        formatDuration(more * slice),
      )
    : t('No training step is known yet: telling what leaks takes more time.');
}

function cleanText({ steps, sites }: Verdicts): string {
  const waiting = [...sites.values()].filter(site => site.state === 'unknown').length;
  const slices = steps.count === 1 ? t('1 slice of time') : t('{0} slices of time', formatCount(steps.count));
  const after = t('Nothing leaks after {0}.', steps.source === 'time' ? slices : stepsText(steps.count));
  if (waiting === 0) return after;
  const all = formatCount(sites.size);
  return waiting === 1
    ? t('{0} 1 stack of {1} still needs more to tell.', after, all)
    : t('{0} {1} stacks of {2} still need more to tell.', after, formatCount(waiting), all);
}
