import { baseName, formatBytes, formatCount, formatPlural } from '../../protocol/format';
import type { Layer } from '../../protocol/trace';
import type { FindingHolder, FindingPlace, LeakClass } from '../../protocol/verdicts';
import { ordinal } from '../sites/states';

/** `train.py:41`, or a word for memory without a Python line. */
export function placeText(place: Pick<FindingPlace, 'file' | 'line'> | null): string {
  return place === null || place.file === '' ? 'no Python line' : `${baseName(place.file)}:${place.line}`;
}

export interface LeakFacts {
  class: LeakClass;
  layer: Layer;
  /** On average. */
  bytesPerStep: number;
  blocksPerStep: number;
  /** Steps from one rise to the next. */
  period: number;
  sinceStep: number;
  place: FindingPlace | null;
  library: string | null;
}

/** One sentence, without a full stop: what is kept, how much, where, since when. */
export function leakTitle(facts: LeakFacts): string {
  const rhythm = facts.period > 1.5 ? `every ${ordinal(Math.round(facts.period))} step` : 'each step';
  const blocks = Math.max(1, Math.round(facts.blocksPerStep * Math.max(1, facts.period)));
  const what = formatPlural(blocks, facts.layer === 'tensor' ? 'tensor' : 'block');
  const bytes = `${formatBytes(facts.bytesPerStep)} a step`;
  const who = facts.place === null && facts.library !== null ? `by ${facts.library}` : `at ${placeText(facts.place)}`;
  const where = `${bytes} ${who}, since step ${formatCount(facts.sinceStep)}`;
  switch (facts.class) {
    case 'graph':
      return `A whole autograd graph of ${rhythm} is kept: ${what}, ${where}`;
    case 'size':
      return `One tensor gets bigger with ${rhythm}: ${where}`;
    case 'gradients':
      return `Gradients of ${rhythm} are kept: ${what}, ${where}`;
    case 'backward':
      return `Tensors made in the backward pass of ${rhythm} are kept: ${what}, ${where}`;
    case 'cycle':
      return `Reference cycles keep ${what} of ${rhythm}: ${where}`;
    case 'exception':
      return `A kept exception keeps ${what} of ${rhythm}: ${where}`;
    case 'hook':
      return `A hook keeps ${what} of ${rhythm}: ${where}`;
    case 'pinned':
      return `Pinned host memory is taken in ${rhythm} and kept: ${what}, ${where}`;
    case 'driver':
      return `Driver memory outside PyTorch’s cache is taken in ${rhythm} and kept: ${what}, ${where}`;
    case 'outputs':
      return `${what} of ${rhythm} ${blocks === 1 ? 'stays' : 'stay'} alive: ${where}`;
  }
}

/** `cache (dict of 120, train.py:6 grow)`. */
export function holderText(holder: FindingHolder): string {
  const place = holder.file === null ? '' : `${baseName(holder.file)}:${holder.line ?? '?'}`;
  const size = holder.length === null ? '' : `${formatCount(holder.length)} in it`;
  const facts = [size, place].filter(text => text !== '').join(', ');
  return facts === '' ? holder.path : `${holder.path} (${facts})`;
}
