import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../text/format';
import type { Finding, FindingHolder, FindingPlace, LeakClass } from '../../../protocol/verdicts';
import {
  blocksText,
  howOftenText,
  moreBlocksText,
  moreTensorsText,
  placeText,
  rateText,
  tensorsText,
  withSince,
} from '../../words';

type LeakFacts = Pick<
  Finding,
  'layer' | 'bytesPerStep' | 'blocksPerStep' | 'bytes' | 'count' | 'place' | 'library' | 'holder'
> & {
  class: LeakClass;
  /** That make up the sum; `place` is the one with most of it. */
  lines: number;
  period: number;
  sinceStep: number;
};
type Place = Pick<FindingPlace, 'file' | 'line'>;

/** The line and what it does; then how much memory, and since when. */
export function leakWords(facts: LeakFacts): Pick<Finding, 'headline' | 'detail'> {
  const { holder, place, library, period } = facts;
  const rare = Math.round(period) > 1;
  const count = Math.max(1, Math.round(facts.blocksPerStep * Math.max(1, period)));
  const isTensor = facts.layer === 'tensor';
  const keepers = holder === null ? [] : keepersOf(holder);
  const source = place === null ? library : placeText(place);
  const time = facts.class === 'size' ? facts.bytesPerStep * period : (facts.bytes / Math.max(1, facts.count)) * count;
  const perStep = rateAt(facts, keepers.length === 0 ? null : source);
  const rate = rare ? t('{0} each time, {1}', formatBytes(time), perStep) : perStep;
  const [keeper, ...others] = keepers;
  const words = { each: howOftenText(period), more: isTensor ? moreTensorsText(count) : moreBlocksText(count), rare };
  const uncounted = others.length === 0 && ['graph', 'gradients', 'backward', 'pinned', 'driver'].includes(facts.class);
  const headline =
    keeper === undefined
      ? leaves(facts.class, source ?? t('An unknown line'), words, source === library ? null : library)
      : others.length > 0
        ? t('{0} keep {1} alive {2}', linesText(keeper, others), words.more, words.each)
        : keeps(facts.class, placeText(keeper), words, library);
  const blocks = isTensor ? tensorsText(count) : blocksText(count);
  return { headline, detail: uncounted ? t('{0} and {1}', blocks, rate) : rate };
}

/** How much, and since when; if several lines make up the sum: how many, and the largest part. */
function rateAt({ bytesPerStep, sinceStep, place, lines }: LeakFacts, source: string | null): string {
  const bytes = formatBytes(bytesPerStep);
  if (place !== null && lines > 1) {
    const most = formatBytes(place.bytesPerStep);
    return withSince(
      t('{0} per step, allocated on {1} lines, mostly {2} ({3})', bytes, lines, placeText(place), most),
      sinceStep,
    );
  }
  return source === null
    ? rateText(bytesPerStep, sinceStep)
    : withSince(t('{0} per step, allocated at {1}', bytes, source), sinceStep);
}

/** The line whose object keeps the blocks; null: unknown. */
export function linePlace(holder: Pick<FindingHolder, 'file' | 'line'> | null): Place | null {
  return holder === null || holder.file === null || holder.line === null
    ? null
    : { file: holder.file, line: holder.line };
}

/** The lines that keep large parts of it, largest first; empty: unknown. */
function keepersOf(holder: FindingHolder): Place[] {
  const places = [holder, ...(holder.share?.named ?? [])].map(linePlace).filter(place => place !== null);
  return linePlace(holder) === null ? [] : [...new Map(places.map(place => [placeText(place), place])).values()];
}

function linesText(first: Place, [second, ...others]: Place[]): string {
  return others.length > 0 || second === undefined
    ? t('{0} and {1} other lines', placeText(first), others.length + 1)
    : t('{0} and {1}', placeText(first), placeText(second));
}

/** What stays alive (`1 more tensor`), and how often (`about every 5 steps`, which is `rare`). */
interface Growth {
  more: string;
  each: string;
  rare: boolean;
}

/** `library`: the one that allocated driver memory, if the text does not name it yet. */
function keeps(kind: LeakClass, where: string, { each, more, rare }: Growth, library: string | null): string {
  const words: Record<LeakClass, string> = {
    graph: rare
      ? t('{0} keeps another autograd graph alive {1}', where, each)
      : t('{0} keeps each step’s autograd graph alive', where),
    size: t('{0} keeps a tensor that grows {1}', where, each),
    gradients: rare
      ? t('{0} keeps more gradients alive {1}', where, each)
      : t('{0} keeps each step’s gradients alive', where),
    backward: rare
      ? t('{0} keeps more tensors from the backward pass alive {1}', where, each)
      : t('{0} keeps tensors from each step’s backward pass alive', where),
    cycle: t('{0} keeps {1} alive {2}, in reference cycles', where, more, each),
    exception: t('{0} keeps {1} alive {2}, through an exception', where, more, each),
    hook: t('{0} keeps {1} alive {2}, through a hook', where, more, each),
    pinned: t('{0} keeps pinned host memory that is allocated {1}', where, each),
    driver:
      library === null
        ? t('{0} keeps driver memory that is allocated {1}', where, each)
        : t('{0} keeps memory that {2} allocates {1}', where, each, library),
    outputs: t('{0} keeps {1} alive {2}', where, more, each),
  };
  return words[kind];
}

/** The same if only the line that allocates is known. */
function leaves(kind: LeakClass, where: string, { each, more, rare }: Growth, library: string | null): string {
  const words: Record<LeakClass, string> = {
    graph: rare
      ? t('{0} leaves another autograd graph alive {1}', where, each)
      : t('{0} leaves each step’s autograd graph alive', where),
    size: t('{0} allocates a tensor that grows {1}', where, each),
    gradients: rare
      ? t('{0} leaves more gradients alive {1}', where, each)
      : t('{0} leaves each step’s gradients alive', where),
    backward: rare
      ? t('{0} leaves more tensors from the backward pass alive {1}', where, each)
      : t('{0} leaves tensors from each step’s backward pass alive', where),
    cycle: t('{0} leaves {1} alive {2}, in reference cycles', where, more, each),
    exception: t('{0} leaves {1} alive {2}, through an exception', where, more, each),
    hook: t('{0} leaves {1} alive {2}, through a hook', where, more, each),
    pinned: t('{0} allocates pinned host memory {1}, and it stays allocated', where, each),
    driver:
      library === null
        ? t('{0} allocates driver memory {1}, and it stays allocated', where, each)
        : t('{0} calls {2}, which allocates memory {1}, and it stays allocated', where, each, library),
    outputs: t('{0} leaves {1} alive {2}', where, more, each),
  };
  return words[kind];
}

/** Headline and detail in one; for a failure, which `word` names, a sentence with its full stop. */
export function titleOf(
  facts: Pick<Finding, 'verdict' | 'headline' | 'detail' | 'atStep' | 'processes'>,
  word = t('Out of memory'),
): string {
  const { verdict, headline, detail, atStep, processes } = facts;
  const failure = atStep === null ? word : t('{0} in step {1}', word, formatCount(atStep));
  const plain = detail === null ? headline : t('{0}: {1}', headline, detail);
  const title = verdict === 'oom' ? t('{0}: {1}. {2}', failure, headline, detail ?? '') : plain;
  if (processes === 1) return title;
  const many = formatCount(processes);
  return verdict === 'oom'
    ? t('{0} It happened in {1} processes.', title, many)
    : t('{0}, in {1} processes', title, many);
}

/** A finding with the given values, and the usual ones for all others. */
export function makeFinding(
  facts: Partial<Finding> & Pick<Finding, 'id' | 'verdict' | 'headline' | 'process' | 'suggestion'>,
): Finding {
  const finding: Finding = {
    class: null,
    cause: null,
    title: '',
    detail: null,
    processes: 1,
    device: -1,
    layer: 'tensor',
    bytesPerStep: 0,
    bytes: 0,
    count: 0,
    bytesAtStep: null,
    blocksPerStep: 0,
    sinceStep: null,
    atStep: null,
    period: null,
    fullAtStep: null,
    fullInSteps: null,
    fullInSeconds: null,
    confidence: 1,
    place: null,
    places: [],
    sites: [],
    holder: null,
    unnamed: null,
    library: null,
    evidence: [],
    ruledOut: [],
    ...facts,
  };
  return { ...finding, title: titleOf(finding) };
}
