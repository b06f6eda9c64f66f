import { formatBytes, formatCount, formatPlural } from '../../protocol/format';
import type { FreeLine, StepAxis } from '../../protocol/steps';
import type { Frame, TraceSource } from '../../protocol/trace';
import type { Finding } from '../../protocol/verdicts';
import type { GrowingSite } from '../sites/cluster';
import type { FindingContext } from './findingContext';
import { cutShort } from './holders';
import { at } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import { holderText, placeText } from './wording';

/** What speaks for a leak, in sentences. */
export function evidenceOf(finding: Finding, cluster: readonly GrowingSite[], context: FindingContext): string[] {
  const { verdict } = cluster.reduce((a, b) => (b.verdict.bytesPerStep > a.verdict.bytesPerStep ? b : a));
  const interval = `${formatBytes(verdict.low)} to ${formatBytes(verdict.high)}`;
  const evidence = [verdict.because];
  if (context.axis.source === 'time') evidence.push('No training step is known: a step here is a slice of time.');
  if (verdict.high > verdict.low) evidence.push(`Its biggest line grows by ${interval} a step.`);
  evidence.push(
    `${formatPlural(finding.count, 'block')} with ${formatBytes(finding.bytes)} from then on ${finding.count === 1 ? 'is' : 'are'} alive after step ${formatCount(context.axis.count)}.`,
  );
  if (finding.library !== null) evidence.push(`The driver was called for it by ${finding.library}.`);
  const cutAfterMs = cutShort(context.answers, finding.process);
  if (finding.holder?.kind === 'none') evidence.push('At the end no Python object of the program had any of it.');
  else if (finding.holder !== null) evidence.push(`The agent found it at ${holderText(finding.holder)}.`);
  else if (cutAfterMs !== null) {
    evidence.push(
      `The look for who holds it was cut short after ${Math.round(cutAfterMs)} ms, before it came to these blocks: ask while the program runs (“Who holds it?”, gpu-memtrace holders).`,
    );
  }
  if (finding.fullAtStep !== null) {
    evidence.push(`At this rate the device is full at about step ${formatCount(finding.fullAtStep)}.`);
  }
  const freed = freeSide(finding, context.source);
  if (freed !== null) evidence.push(freed);
  if (finding.holder === null && finding.sinceStep !== null && context.axis.count - finding.sinceStep < 50) {
    evidence.push('A cache or buffer that is being filled looks the same until it is full.');
  }
  return evidence;
}

/** By which line blocks of the site used to be freed, and when that stopped. */
function freeSide(finding: Finding, source: TraceSource): string | null {
  const since = finding.sinceStep ?? 0;
  const [line] = finding.sites
    .slice(0, 8)
    .flatMap(site => source.freeLines(site))
    .filter(entry => entry.lastStep < since + 2)
    .sort((a, b) => b.count - a.count);
  const frame = line === undefined ? null : frameOf(line);
  if (line === undefined || frame === null) return null;
  return `Until step ${formatCount(line.lastStep)} its blocks were freed at ${placeText(frame)} ${frame.function}; no more since.`;
}

function frameOf(line: FreeLine): Frame | null {
  return line.frames[line.userFrame] ?? line.frames[0] ?? null;
}

/** What it is not, as far as the trace shows. */
export function ruledOutOf(finding: Finding, cluster: readonly GrowingSite[], context: FindingContext): string[] {
  const since = finding.sinceStep ?? 0;
  const { axis } = context;
  const ruledOut: string[] = [];
  const steps = axis.count - since;
  if (steps > T.mostEvents) ruledOut.push(`No warm-up: it still grows, ${formatCount(steps)} steps after it began.`);
  const runs = countFrom(axis, axis.fullCollections, since);
  const collected = cluster.some(({ steps: own }) => own.collectedBytes.some(bytes => bytes > 0));
  if (runs > 0 && !collected) {
    ruledOut.push(
      `No cycle that waits for the collector: its full runs (${formatCount(runs)} since then) freed nothing of it.`,
    );
  }
  const oldFreed = cluster.reduce((sum, site) => sum + countFrom(axis, site.steps.oldFreedBytes, since), 0);
  if (oldFreed === 0) ruledOut.push('No cache with a bound that is reached: nothing old has left since then.');
  const ledger = context.ledgers.find(entry => entry.process === finding.process && entry.device === finding.device);
  if (finding.layer === 'tensor' && ledger !== undefined && ledger.grows === 'tensor') {
    ruledOut.push('No fragmentation: the tensors themselves grow.');
  }
  return ruledOut;
}

function countFrom(axis: StepAxis, values: ArrayLike<number>, since: number): number {
  let sum = 0;
  const shift = axis.last.length - values.length;
  for (let i = 0; i < values.length; i++) if (at(axis.last, i + shift) >= since) sum += at(values, i);
  return sum;
}
