import { t } from '@vscode/l10n';
import type { FindingHolder } from '../../protocol/verdicts';
import { groupBy } from '../../base/maps';
import { formatBytes, formatCount } from '../../text/format';
import { bucketsOf, siteRows, type Totals, type TraceSource } from '../../protocol/trace';
import { fixText } from '../../analysis/findings/kinds/suggestions';
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
  const { sites, steps } = builtUp(then, where, fromNs);
  const [bytes, count] = [sum(sites.map(site => site.bytes)), sum(sites.map(site => site.count))];
  const lines = [...groupBy(sites, ({ id }) => siteText(then.site(id)))];
  const [most] = lines.sort((a, b) => sum(b[1].map(site => site.bytes)) - sum(a[1].map(site => site.bytes)));
  if (most === undefined || bytes <= T.most * riseBytes) return null;
  const [line, [first]] = most;
  const ids = sites.map(({ id }) => id);
  const holder = holderOf(readHolders(then), where.process, ids, T.most, 1);
  const frame = holder?.file ? holder : namedFrame(then.site(first.id));
  const place = frame?.file && frame.line ? { file: frame.file, line: frame.line } : null;
  return { line, place, bytes, count, steps, times, holder };
}

/** The sites, with what they have of the steps that all of them have come to. */
function builtUp(then: TraceSource, where: { process: number; device: number }, fromNs: number) {
  const { endNs, last } = then.ledgerSeries({ ...where, points: MOST_POINTS });
  const [begin, end] = [endNs.findLastIndex(ns => ns <= fromNs), endNs.length - 1];
  const steps = (last[end] ?? 0) - (last[begin] ?? 0);
  if (steps < T.few) return { sites: [], steps };
  const middle = Math.floor((begin + 1 + end) / 2);
  const [middleNs, toNs] = [at(endNs, middle), at(endNs, end)];
  const born = (bornFromNs: number, bornToNs: number) => {
    const query = { layer: 'tensor', groupBy: 'site', sort: 'liveBytes', descending: true, from: 0 } as const;
    return siteRows(then.sites({ ...query, ...where, bornFromNs, bornToNs, to: MOST_SITES }));
  };
  const running = new Map(born(toNs, Infinity).map(({ id, liveCount }) => [id, liveCount]));
  const later = at(last, end) - at(last, middle);
  const halves = [...born(fromNs, middleNs), ...born(middleNs, toNs)];
  const built = [...groupBy(halves, ({ id }) => id)].flatMap(([id, [first, second]]) => {
    if (second === undefined) return [];
    const [bytes, before] = [first.liveBytes + second.liveBytes, first.liveCount + second.liveCount];
    const isBuilt = Math.min(first.liveBytes, second.liveBytes) > T.part * bytes;
    return isBuilt ? [{ id, bytes, before, running: running.get(id) ?? 0, perStep: second.liveCount / later }] : [];
  });
  const come = cameTo(built);
  const sites = built.map(({ id, bytes, before }, i) => {
    const count = before + at(come.more, i);
    return { id, bytes: Math.round((bytes * count) / before), count };
  });
  return { sites, steps: Math.min(steps + 1, come.steps) };
}

/** `160 MiB of the peak builds up over 50 steps` */
export const stepsBuildUpTitle = ({ bytes, steps }: StepsBuildUp): string =>
  t('{0} of the peak builds up over {1} steps', formatBytes(bytes), formatCount(steps));

/** `160 MiB of it builds up over 50 steps and is then freed together (3 times): 400 tensors, mostly from train.py:14 (forward). Held by …` */
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
  const graph = /\(its graph\)$/.test(holder.path) ? [t('Call `.detach()` on tensors that you only report.')] : [];
  const advice = holder.fix === undefined ? graph : [fixText(holder.fix)];
  return [built, t('Held by {0}.', holderText(holder)), ...advice].join(' ');
}
