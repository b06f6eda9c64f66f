import { t } from '@vscode/l10n';
import { isSnapshot } from '../../protocol/notes';
import { formatBytes, formatCount } from '../../text/format';
import { newestSteps, wasPaused, type TraceInfo } from '../../protocol/trace';
import type { OverallVerdict } from '../../protocol/requests/verdictRequests';
import { isLeak, type AfterSteps, type Finding, type Unjudged, type Verdicts } from '../../protocol/verdicts';
import { lostShareOf } from './context';
import { fewestRecords } from '../series/records';
import { THRESHOLDS as T } from '../series/thresholds';
import { stepsText } from '../words';
import { inSentence } from './site';

/** Steps needed to find a leak that grows with every step. */
const FIRST_STEPS = T.few + fewestRecords();

/** Whether these steps are enough to judge what each of them leaves behind. */
export const areEnough = ({ source, count }: Verdicts['steps']): boolean =>
  source === 'time' ? count >= T.timeSlices : source !== 'none' && count >= FIRST_STEPS;

/** Whether they would have shown this leak again; null: one that grows with every step. */
export function areEnoughFor(steps: Verdicts['steps'], leak: Pick<Finding, 'sinceStep' | 'period'> | null): boolean {
  if (!areEnough(steps) || steps.source === 'time') return areEnough(steps);
  return steps.count >= (leak?.sinceStep ?? 0) + Math.max(1, leak?.period ?? 1) * FIRST_STEPS;
}

/** The reader's cause for what a file once had (native/trace/log/losses.h). */
const CUT = 'cut short';

/** Whether the verdict settles if something leaks. */
export const isConclusive = (overall: OverallVerdict): boolean => overall === 'clean' || overall === 'found';

interface Overall {
  overall: OverallVerdict;
  sentence: string;
}

/** The verdict on a trace as a whole, in one sentence, and what that does not count. */
export function overallVerdict(info: TraceInfo, verdicts: Verdicts): Overall {
  const { overall, sentence } = stated(info, verdicts);
  if (overall === 'found' || info.live || !wasPaused(info)) return { overall, sentence };
  return { overall, sentence: `${sentence} ${t('Recording was paused; steps in that time are not counted.')}` };
}

function stated(info: TraceInfo, verdicts: Verdicts): Overall {
  if (verdicts.findings.length > 0) return { overall: 'found', sentence: foundText(info, verdicts) };
  const share = lostShareOf(info);
  if (share > T.rare) {
    const percent = `${(100 * share).toFixed(0)}%`;
    const text =
      (info.lost.byCause[CUT] ?? 0) > 0
        ? t(
            'Not judged: {0} of the events are missing because the file is cut short. Only the whole file can be judged.',
            percent,
          )
        : t('Not judged: {0} of the events were dropped. Only a run without dropped events can be judged.', percent);
    return { overall: 'lost', sentence: text };
  }
  const lacking = lackingText(info, verdicts);
  const [first] = verdicts.unjudged;
  if (lacking !== null) return { overall: 'waiting', sentence: `${lacking} ${roseText(first, info)}`.trimEnd() };
  if (verdicts.after !== null) return { overall: 'after', sentence: afterText(verdicts.steps.count, verdicts.after) };
  if (first !== undefined) return { overall: 'rising', sentence: risingText(info, verdicts.steps, first) };
  if (info.lost.events > 0) return { overall: 'partial', sentence: partialText(info, verdicts) };
  return { overall: 'clean', sentence: cleanText(info, verdicts) };
}

function foundText(info: TraceInfo, verdicts: Verdicts): string {
  const { findings } = verdicts;
  const leaks = findings.filter(isLeak).length;
  const failed = findings.filter(one => one.verdict === 'oom' && !isLeak(one)).length;
  const others = findings.length - leaks - failed;
  const parts: string[] = [];
  if (leaks > 0) parts.push(leaks === 1 ? t('1 leak') : t('{0} leaks', formatCount(leaks)));
  if (failed > 0)
    parts.push(failed === 1 ? t('1 failed allocation') : t('{0} failed allocations', formatCount(failed)));
  if (others > 0) parts.push(others === 1 ? t('1 other finding') : t('{0} other findings', formatCount(others)));
  const more = unjudgedBeside(info, verdicts);
  return more === null ? parts.join(', ') : `${parts.join(', ')}. ${more}`;
}

/** What rose by more than all that was found, and could not be judged; null: nothing did. */
export function unjudgedBeside(info: TraceInfo, { findings, unjudged: [first] }: Verdicts): string | null {
  const found = Math.max(0, ...findings.map(({ bytes }) => bytes));
  return first === undefined || first.bytes <= found ? null : `${roseText(first, info)} ${first.because}`;
}

/** What is missing for a verdict on any line; null: nothing. */
function lackingText(info: TraceInfo, { steps }: Verdicts): string | null {
  if (areEnough(steps)) return null;
  // As many as the page shows, though the newest have not been judged yet.
  const { count, source } = newestSteps(info) ?? steps;
  if (source === 'time') return lackingTime(info);
  if (info.processes.some(isSnapshot))
    return t('The snapshot’s history has only {0}, too few to judge leaks.', stepsText(count));
  if (!info.live) return t('The run ended after {0}, too few to judge leaks.', stepsText(count));
  const more = Math.max(1, FIRST_STEPS - count);
  if (count === 0)
    return t('Waiting for the first training step to end. {0} steps are needed to judge leaks.', FIRST_STEPS);
  return more === 1 ? t('Needs 1 more step to judge leaks.') : t('Needs {0} more steps to judge leaks.', more);
}

/** No time is named: a step that is found on the way settles it sooner, and slices in which nothing happens do not count. */
function lackingTime(info: TraceInfo): string {
  if (info.processes.some(isSnapshot))
    return info.durationNs === 0
      ? t('The snapshot has no history. It shows live memory, but leaks cannot be judged.')
      : t('The snapshot’s history has no training steps and is too short to judge leaks.');
  if (!info.live) return t('The run ended before there was a training step or enough time to judge leaks.');
  return t('No training step has been seen yet, so a verdict takes longer.');
}

function afterText(count: number, { bytes, line, lineBytes }: AfterSteps): string {
  return t(
    'No leak was found in {0}. Memory rose by {1} after the last step, mostly ({3}) at {2}. Without steps, that growth cannot be judged.',
    stepsText(count),
    formatBytes(bytes),
    inSentence(line),
    formatBytes(lineBytes),
  );
}

function roseText(first: Unjudged | undefined, { live }: TraceInfo): string {
  if (first === undefined) return '';
  const words = [inSentence(first.line), amountText(first), formatCount(first.rises)] as const;
  return live
    ? t('Memory from {0} has grown {2} times so far, by {1} in all.', ...words)
    : t('Memory from {0} grew {2} times, by {1} in all.', ...words);
}

/** GPU memory needs no word. */
function amountText({ layer, bytes }: Unjudged): string {
  return layer === 'host' ? t('{0} of pinned host memory', formatBytes(bytes)) : formatBytes(bytes);
}

function risingText({ live }: TraceInfo, steps: Verdicts['steps'], rising: Unjudged): string {
  const words = [
    judgedBy(steps),
    inSentence(rising.line),
    amountText(rising),
    formatCount(rising.rises),
    rising.because,
  ] as const;
  return live
    ? t('No leak so far after {0}, but memory from {1} has grown {3} times, by {2} in all. {4}', ...words)
    : t('No leak was found in {0}, but memory from {1} grew {3} times, by {2} in all. {4}', ...words);
}

function partialText({ lost }: TraceInfo, { steps }: Verdicts): string {
  return t('No leak was found in {0}, but {1} events were dropped.', judgedBy(steps), formatCount(lost.events));
}

/** The steps, or what stands for them. */
function judgedBy({ source, count }: Verdicts['steps']): string {
  if (source === 'periodic') return t('{0} (loop iterations)', stepsText(count));
  if (source !== 'time') return stepsText(count);
  return count === 1 ? t('1 time slice') : t('{0} time slices', formatCount(count));
}

function cleanText(info: TraceInfo, { steps, sites }: Verdicts): string {
  const { live } = info;
  const waiting = [...sites.values()].filter(site => site.state === 'unknown').length;
  const after = judgedBy(steps);
  // The program may have gone on since.
  if (waiting === 0) return live ? t('No leak in the first {0}.', after) : t('No leak after {0}.', after);
  const [open, all] = [formatCount(waiting), formatCount(sites.size)];
  if (!live && wasPaused(info))
    return t(
      'No leak in {0}. {1} of {2} call stacks had too few steps after the pause to be judged.',
      after,
      open,
      all,
    );
  if (!live) return t('No leak in {0}. {1} of {2} call stacks had too few steps to be judged.', after, open, all);
  return waiting === 1
    ? t('No leak so far after {0}. 1 of {1} call stacks needs more steps to be judged.', after, all)
    : t('No leak so far after {0}. {1} of {2} call stacks need more steps to be judged.', after, open, all);
}
