import { t } from '@vscode/l10n';
import type { FindingHolder } from '../../protocol/verdicts';
import { groupBy } from '../../base/maps';
import { formatBytes, formatCount } from '../../text/format';
import { bucketsOf, siteRows, type Totals, type TraceSource } from '../../protocol/trace';
import { holderOf, readHolders } from '../../analysis/findings/kinds/holderAnswers';
import { fallsOf } from '../../analysis/series/growth';
import { cameTo } from '../../analysis/series/repeated';
import { at, sum } from '../../analysis/series/statistics';
import { THRESHOLDS as T } from '../../analysis/series/thresholds';
import { inSentence, namedFrame, siteText } from '../../analysis/sites/site';
import { holderText, tensorsText } from '../../analysis/words';

// Over many steps, memory that is freed together in the end, again and again: a sum of losses with their graphs that begins anew in each epoch.

/** A time in which memory builds up before it is freed together. */
export interface Tooth {
  fromNs: number;
  /** How often it was freed so, in all of the trace. */
  times: number;
  /** The peak, above the least since the first step. */
  riseBytes: number;
}

/** What most of such a peak consists of. */
export interface StepsBuildUp extends Pick<Tooth, 'times'> {
  /** Of the line that allocated most of it. */
  line: string;
  /** Of what keeps it; else of that line. */
  place: { file: string; line: number } | null;
  bytes: number;
  count: number;
  /** That it built up over. */
  steps: number;
  holder: FindingHolder | null;
}

const MOST_SITES = 1_000;
const MOST_BUCKETS = 4_096;
const MOST_POINTS = 2_048;

/** The time before `peakNs` in which most of the peak may have built up; null: what is freed together is less, or was not so twice. */
export function toothBefore(source: TraceSource, { process, device, ...total }: Totals, peakNs: number): Tooth | null {
  const own = source.info().steps.find(one => one.process === process && one.source !== 'time');
  const fromNs = own && source.ledgerSeries({ process, device, points: MOST_POINTS }).endNs[0];
  if (own === undefined || fromNs === undefined || own.lastEndNs <= fromNs) return null;
  // The least in about two steps each: what comes and goes within a step is in none of them.
  const buckets = Math.min(MOST_BUCKETS, Math.ceil(own.count / 2));
  const span = { process, device, fromNs, toNs: own.lastEndNs, buckets };
  const levels = bucketsOf(source.timeline({ series: 'tensor', ...span }), own.lastEndNs);
  const riseBytes = total.peakBytes - Math.min(...levels.map(({ min }) => min));
  // The end of a program frees what builds up in its last steps.
  const falls = fallsOf([...levels.map(({ min }) => min), total.liveBytes]).filter(
    ({ depth }) => depth > T.most * riseBytes,
  );
  if (falls.length < 2) return null;
  const before = falls.map(fall => levels[fall.at]).findLast(level => level !== undefined && level.endNs <= peakNs);
  return { fromNs: before?.beginNs ?? 0, times: falls.length, riseBytes };
}

/** What was allocated in both halves of that time and stays, if that is most of the peak. `then`: the trace at the peak. */
export function stepsBuildUp(
  then: TraceSource,
  where: { process: number; device: number },
  { fromNs, times, riseBytes }: Tooth,
): StepsBuildUp | null {
  const { endNs, last } = then.ledgerSeries({ ...where, points: MOST_POINTS });
  const [begin, end] = [endNs.findLastIndex(ns => ns <= fromNs), endNs.length - 1];
  const steps = (last[end] ?? 0) - (last[begin] ?? 0);
  if (steps < T.few) return null;
  const middle = Math.floor((begin + 1 + end) / 2);
  const [middleNs, toNs] = [at(endNs, middle), at(endNs, end)];
  const born = (bornFromNs: number, bornToNs: number) => {
    const query = { layer: 'tensor', groupBy: 'site', sort: 'liveBytes', descending: true, from: 0 } as const;
    return siteRows(then.sites({ ...query, ...where, bornFromNs, bornToNs, to: MOST_SITES }));
  };
  const since = new Map(born(toNs, Infinity).map(row => [row.id, row.liveCount]));
  const second = (last[end] ?? 0) - (last[middle] ?? 0);
  const halves = [...born(fromNs, middleNs), ...born(middleNs, toNs)];
  const built = [...groupBy(halves, ({ id }) => id)].flatMap(([id, [first, other]]) => {
    if (other === undefined) return [];
    const [bytes, before] = [first.liveBytes + other.liveBytes, first.liveCount + other.liveCount];
    const isBuilt = Math.min(first.liveBytes, other.liveBytes) > T.part * bytes;
    return isBuilt ? [{ id, bytes, before, running: since.get(id) ?? 0, perStep: other.liveCount / second }] : [];
  });
  const come = cameTo(built);
  const sites = built.map(({ id, bytes, before }, i) => {
    const more = at(come.more, i);
    return {
      id,
      bytes: bytes + Math.round((bytes * more) / before),
      count: before + more,
      line: siteText(then.site(id)),
    };
  });
  const bytes = sum(sites.map(site => site.bytes));
  const lines = [...groupBy(sites, ({ line }) => line).values()];
  const [most] = lines.sort((a, b) => sum(b.map(site => site.bytes)) - sum(a.map(site => site.bytes)));
  if (most === undefined || bytes <= T.most * riseBytes) return null;
  const ids = sites.map(({ id }) => id);
  const holder = holderOf(readHolders(then), where.process, ids, T.most, 1);
  const frame = holder?.file ? holder : namedFrame(then.site(most[0]!.id));
  const place = frame?.file && frame.line ? { file: frame.file, line: frame.line } : null;
  // The step that runs is one of them as soon as it has made all of its part.
  const over = Math.min(steps + 1, come.steps);
  return { line: most[0]!.line, place, bytes, count: sum(sites.map(site => site.count)), steps: over, times, holder };
}

/** `160.00 MiB of it builds up over 50 steps and is then freed together (3 times): 400 tensors, mostly from train.py:14 (forward). Held by …` */
export function stepsBuildUpSentence({ bytes, count, line, steps, times, holder }: StepsBuildUp): string {
  const built = t(
    '{0} of it builds up over {1} steps and is then freed together ({2} times): {3}, mostly from {4}.',
    formatBytes(bytes),
    formatCount(steps),
    formatCount(times),
    tensorsText(count),
    inSentence(line),
  );
  if (holder === null) return built;
  const advice = /\(its graph\)$/.test(holder.path) ? [t('Call `.detach()` on tensors that you only report.')] : [];
  return [built, t('Held by {0}.', holderText(holder)), ...advice].join(' ');
}
