import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../text/format';
import type { StepAxis, TraceSource } from '../../../protocol/trace';
import type { Finding } from '../../../protocol/verdicts';
import type { GrowingSite } from '../../sites/cluster';
import type { FailedContext, FindingContext } from './findingContext';
import { cutShort } from './holderAnswers';
import { roomLeft } from './roomLeft';
import { fewestRecords } from '../../series/records';
import { at } from '../../series/statistics';
import { THRESHOLDS as T } from '../../series/thresholds';
import { seenText, shareOf, holderText, placeText, thatHold } from '../../words';

/** The evidence for a leak, in sentences; `pinned`: bytes a step of host memory that the same holder keeps. */
export function evidenceOf(
  finding: Finding,
  cluster: readonly GrowingSite[],
  pinned: number,
  context: FailedContext,
): string[] {
  const { holder, library, sinceStep } = finding;
  const { axis } = context;
  // Of the sites that began it the fastest: the rest is counted since that step.
  const first = cluster.filter(({ verdict }) => (verdict.sinceStep ?? Infinity) === sinceStep);
  const { because } = first.reduce((a, b) => (b.verdict.bytesPerStep > a.verdict.bytesPerStep ? b : a)).verdict;
  const evidence = [because];
  if (axis.source === 'time') evidence.push(t('No training steps are known, so a step here is a time slice.'));
  evidence.push(aliveText(finding, context));
  if (pinned > 0) evidence.push(t('Pinned host memory grows along with it, by {0} per step.', formatBytes(pinned)));
  if (library !== null) evidence.push(t('The driver call came from {0}.', library));
  evidence.push(...holderEvidence(finding, context));
  evidence.push(...fullEvidence(finding, context));
  evidence.push(...freeEvidence(finding, context.source));
  if (holder === null && sinceStep !== null && axis.count - sinceStep < T.many)
    evidence.push(t('A cache or buffer looks the same until it is full.'));
  return evidence;
}

function aliveText({ bytes: held, count }: Finding, { axis, failed }: FailedContext): string {
  const [bytes, last] = [formatBytes(held), formatCount(axis.count)];
  const blocks = count === 1 ? t('1 block') : t('{0} blocks', formatCount(count));
  // prettier-ignore
  if (failed !== null) return t('When the allocation failed, the leak held {0} ({1}).', blocks, bytes);
  return count === 1
    ? t('1 block ({0}) allocated since then is still alive after step {1}.', bytes, last)
    : t('{0} blocks ({1}) allocated since then are still alive after step {2}.', formatCount(count), bytes, last);
}

/** When the GPU is full, and the room that this is computed from. */
function fullEvidence(finding: Finding, context: FindingContext): string[] {
  const { fullAtStep } = finding;
  const room = roomLeft(finding, context);
  if (fullAtStep === null || room === null) return [];
  const { freeBytes, unusedBytes } = room;
  const [step, free, unused] = [formatCount(fullAtStep), formatBytes(Math.max(0, freeBytes)), formatBytes(unusedBytes)];
  const { live } = context.source.info();
  const when = live
    ? t('At this rate, the GPU will be full at about step {0}.', step)
    : t('At this rate, the GPU would have been full at about step {0}.', step);
  if (unusedBytes === 0) return [`${when} ${t('This counts {0} that is free.', free)}`];
  return [`${when} ${t('This counts {0} that is free and {1} that is reserved but unused.', free, unused)}`];
}

function holderEvidence({ holder, process }: Finding, { answers }: FindingContext): string[] {
  if (holder?.kind === 'none') return [t('When the program ended, no Python object held any of it.')];
  if (holder !== null) {
    const seen = holder.asked === undefined ? [] : [seenText(holder.asked)];
    return [t('Held by {0}.', holderText(holder)), ...seen, shareOf(holder)].filter(text => text !== null);
  }
  const cutAfterMs = cutShort(answers, process);
  if (cutAfterMs === null) return [];
  return [
    t(
      'The search for holders was cut short after {0} ms, before it reached these blocks. Run gpu-memtrace holders while the program is running.',
      Math.round(cutAfterMs),
    ),
  ];
}

/** By which line blocks of the site used to be freed, and when that stopped. */
function freeEvidence({ sinceStep, sites }: Finding, source: TraceSource): string[] {
  const [line] = sites
    .slice(0, 8)
    .flatMap(site => source.freeLines(site))
    .filter(entry => entry.lastStep < (sinceStep ?? 0) + 2)
    .sort((a, b) => b.count - a.count);
  const frame = line?.frames[line.userFrame] ?? line?.frames[0];
  if (line === undefined || frame === undefined) return [];
  const [where, last] = [placeText(frame), formatCount(line.lastStep)];
  return [t('Its blocks were freed at {1} until step {0}; none have been freed since.', last, where)];
}

/** What it is not, as far as the trace shows. */
export function ruledOutOf(finding: Finding, cluster: readonly GrowingSite[], context: FindingContext): string[] {
  const since = finding.sinceStep ?? 0;
  const { axis } = context;
  const runs = formatCount(countFrom(axis, axis.fullCollections, since));
  const collected = cluster.some(({ steps: own }) => own.gcFreedBytes.some(bytes => bytes > 0));
  const freed = cluster.some(site => countFrom(axis, site.steps.oldFreedBytes, since) !== 0);
  const ledger = context.ledgers.find(entry => entry.process === finding.process && entry.device === finding.device);
  // prettier-ignore
  return thatHold([
    [axis.count - since > fewestRecords(), t('Not warm-up: it was still growing in step {0}.', formatCount(axis.count))],
    [runs !== '0' && !collected, t('Not a reference cycle: the garbage collector’s full runs ({0} since then) freed none of it.', runs)],
    [!freed, t('Not a full cache: no older block has been freed since then.')],
    [finding.layer === 'tensor' && ledger?.grows === 'tensor', t('Not fragmentation: the tensors themselves grow.')],
  ]);
}

function countFrom(axis: StepAxis, values: ArrayLike<number>, since: number): number {
  let sum = 0;
  const shift = axis.last.length - values.length;
  for (let i = 0; i < values.length; i++) if (at(axis.last, i + shift) >= since) sum += at(values, i);
  return sum;
}
