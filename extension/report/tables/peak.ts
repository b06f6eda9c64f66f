import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../text/format';
import { moduleText } from '../../text/moduleText';
import { allocationRows, PASSES, siteRows, type Category, type Pass, type TraceSource } from '../../protocol/trace';
import { inSentence, namedFrame, siteText } from '../../analysis/sites/site';
import { WITHIN } from '../../analysis/words';
import { buildUps, buildUpSentence } from './buildUp';
import { stepsBuildUp, stepsBuildUpSentence } from './stepsBuildUp';
import { foldEqualLayers } from '../trees/equalLayers';
import { categoriesText, NO_MODULE, readModules } from '../trees/modules';
import type { PeakPlace } from './nextPeak';
import { rangesAt } from '../../protocol/ranges';

/** What the memory of one process on one device was made of when most of it was alive. Parts of one kind sum to `bytes`. */
export type PeakParts = NonNullable<ReturnType<typeof explainPeak>>;

const MOST_ROWS = 100;
const MODULES_SHOWN = 3;

/** A peak of tensors, explained. `then`: the trace as it was at that moment. Null: there were none. */
export function explainPeak(then: TraceSource, place: PeakPlace) {
  const { process, device, step, afterStep, stepFromNs, next, tooth } = place;
  const info = then.info();
  const total = info.totals.find(of => of.layer === 'tensor' && of.process === process && of.device === device);
  if (total === undefined || total.liveBytes === 0) return null;
  const where = { layer: 'tensor', process, device, from: 0 } as const;
  const [last] = allocationRows(then.allocations({ ...where, sort: 'age', descending: false, to: 1 }));
  const purposes = then.sites({ ...where, groupBy: 'category', sort: 'liveBytes', descending: true, to: MOST_ROWS });
  const site = last === undefined ? null : then.site(last.site);
  const frame = namedFrame(site);
  const module = last?.module ?? '';
  // After the last step, nothing ends a pass. It is named only if the allocation was made in a module.
  const phase = afterStep !== undefined && module === '' ? 'other' : passAt(then, process, info.durationNs);
  return {
    pid: info.processes.find(({ index }) => index === process)?.pid ?? 0,
    device,
    bytes: total.liveBytes,
    /** See PeakPlace. */
    step,
    ...(afterStep !== undefined && { afterStep }),
    /** What the allocation that reached the peak was a part of; `module`: its path, empty where none is known. */
    phase,
    /** `train_step › attention`, as the program names it; empty: it names nothing. */
    ranges: rangesAt(then, process, info.durationNs, last?.thread),
    module,
    line: siteText(site),
    /** Where that is. */
    place: frame && { file: frame.file, line: frame.line },
    /** The next highest: lowering this one alone gives no more than the difference. */
    next,
    /** What built up in the steps before and is freed together, time and again; null: not most of it. */
    stepsBuildUp: tooth && stepsBuildUp(then, { process, device }, tooth),
    /** What stays within the step although its backward pass is over, most first. */
    buildUp: stepFromNs === null ? [] : buildUps(then, { process, device }, stepFromNs, total.liveBytes),
    categories: siteRows(purposes).map(({ label, liveBytes: bytes }) => ({ category: label as Category, bytes })),
    modules: readModules(then, where).map(({ label, liveBytes: bytes, categories }) => ({
      module: label,
      bytes,
      categories,
    })),
  };
}

function passAt(source: TraceSource, process: number, timeNs: number): Pass {
  const [, pass] = source.passes({ process, fromNs: timeNs, toNs: timeNs + 1 });
  return PASSES[pass ?? 0] ?? 'other';
}

/** `3.70 MiB of tensors on cuda:0, in the forward pass of layers.2.mlp, in step 1` */
export function peakSentence({ bytes, device, step, afterStep, phase, ranges, module, modules }: PeakParts): string {
  const of = module === '' || phase === 'optimizer' ? '' : t(' of {0}', moduleText(module, t));
  const after = afterStep === undefined ? '' : t(', after step {0}', formatCount(afterStep));
  const during = step === null ? after : t(', in step {0}', formatCount(step));
  const phased = modules.some(part => part.module !== NO_MODULE);
  const named = phased && phase === 'optimizer' ? withoutOptimizer(ranges) : ranges;
  const inside = named === '' ? '' : t(', in “{0}”', named);
  const when = `${phased ? `,${WITHIN[phase]}` : ''}${of}${during}${inside}`;
  return t('{0} of tensors on cuda:{1}{2}', formatBytes(bytes), device, when);
}

/** PyTorch names a range for each call of `optimizer.step()` by itself. */
function withoutOptimizer(ranges: string): string {
  const names = ranges.split(' › ');
  return names.filter(name => !/^Optimizer\.step#/.test(name)).join(' › ');
}

/** What it gives to lower this peak alone; empty where there is no other, and where what builds up raises all of them. */
export function nextPeakSentence(peak: PeakParts): string {
  const { bytes, next } = peak;
  if (next === null || buildUpsOf(peak).length > 0) return '';
  const where = next.phase === null ? '' : WITHIN[next.phase];
  if (next.bytes === bytes)
    return t('The step reaches the same peak again{0}, so lowering only this one saves nothing.', where);
  const gain = formatBytes(bytes - next.bytes);
  if (next.step !== undefined)
    return t(
      'The next highest peak is {0}{1}, in step {2}, so lowering only this one saves at most {3}.',
      formatBytes(next.bytes),
      where,
      formatCount(next.step),
      gain,
    );
  return t(
    'The next highest peak of this step is {0}{1}, so lowering only this one saves at most {2}.',
    formatBytes(next.bytes),
    where,
    gain,
  );
}

/** Modules at the peak, equal layers as one, biggest first. */
export function peakModules({ modules }: PeakParts): { label: string; liveBytes: number }[] {
  return foldEqualLayers(
    modules.map(({ module: label, bytes: liveBytes, categories }) => ({ label, liveBytes, liveCount: 0, categories })),
  );
}

/** What builds up to the peak, over steps and within its own: each in a sentence or two, where, and the path of what keeps it. */
export function buildUpsOf({ stepsBuildUp: over, buildUp: within }: PeakParts) {
  const steps =
    over === null ? [] : [{ sentence: stepsBuildUpSentence(over), place: over.place, path: over.holder?.path ?? '' }];
  return [...steps, ...within.map(one => ({ sentence: buildUpSentence(one), place: one.place, path: '' }))];
}

/** The sentence, and what builds up. */
export function builtUpLines(peak: PeakParts): string[] {
  return [
    `PEAK: ${peakSentence(peak)}, at ${inSentence(peak.line)}.`,
    ...buildUpsOf(peak).map(({ sentence }) => `  ${sentence}`),
  ];
}

/** The sentence, what the memory is for, its biggest modules, and the next peak. */
export function peakLines(peak: PeakParts): string[] {
  const parts = Object.fromEntries(peak.categories.map(part => [part.category, part.bytes]));
  const folded = peakModules(peak);
  const biggest = folded
    .slice(0, MODULES_SHOWN)
    .map(row => `${formatBytes(row.liveBytes)} ${moduleText(row.label, t)}`);
  const more = folded.length > MODULES_SHOWN ? `, and ${formatCount(folded.length - MODULES_SHOWN)} more` : '';
  const next = nextPeakSentence(peak);
  return [
    `${peakSentence(peak)}, at ${inSentence(peak.line)}:`,
    `  ${categoriesText(parts)}`,
    `  most by module: ${biggest.join(', ')}${more}`,
    ...buildUpsOf(peak).map(({ sentence }) => `  ${sentence}`),
    ...(next === '' ? [] : [`  ${next}`]),
  ];
}
