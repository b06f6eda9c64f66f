import type { Planned } from './calls';
import { categoryOf, passOf, type RecordedRun } from './recordedRun';

// Changes of a program by which tensors live longer or shorter, and nothing else differs.

const JUST_BEHIND = 0.5;
/** Of the optimizer's states. */
const ONE_OF_TWO = 0.5;

/** Where the last allocation of each step begins. */
function endsOf(run: RecordedRun): Map<number, number> {
  const ends = new Map<number, number>();
  for (let at = 0; at < run.count; at++) {
    const step = run.step[at] ?? 0;
    ends.set(step, Math.max(ends.get(step) ?? 0, run.begin[at] ?? 0));
  }
  return ends;
}

/** What the optimizer makes for a moment. */
const isMade = (run: RecordedRun, one: Planned): boolean =>
  passOf(run, one.allocation) === 'optimizer' &&
  categoryOf(run, one.allocation) !== 'optimizer' &&
  one.end !== Infinity;

/**
 * Another optimizer, whose states take such a share, and which makes nothing for a moment: SGD has one of Adam's two states, others have
 * smaller ones. `found`: how many states.
 */
export function withStates(
  run: RecordedRun,
  planned: readonly Planned[],
  share: number,
): { planned: Planned[]; found: number } {
  const before = new Map<string, number>();
  let found = 0;
  const all = planned.flatMap((one): Planned[] => {
    if (isMade(run, one)) return [];
    if (categoryOf(run, one.allocation) !== 'optimizer') return [one];
    found++;
    const key = `${run.module[one.allocation]} ${run.bytes[one.allocation]}`;
    const at = before.get(key) ?? 0;
    before.set(key, at + 1);
    if (share !== ONE_OF_TWO) return share === 0 ? [] : [{ ...one, share: (one.share ?? 1) * share }];
    return at % 2 === 0 ? [one] : [];
  });
  return { planned: all, found };
}

/** The optimizer updates one parameter after the other (`foreach=False`): each thing that it makes is freed before the next but one. */
export function updatedOneByOne(run: RecordedRun, planned: readonly Planned[]): { planned: Planned[]; found: number } {
  let next = Infinity;
  const ends = new Map<Planned, number>();
  for (const one of planned.toReversed()) {
    if (!isMade(run, one)) continue;
    ends.set(one, Math.min(one.end, next + JUST_BEHIND));
    next = one.begin;
  }
  return { planned: planned.map(one => ({ ...one, end: ends.get(one) ?? one.end })), found: ends.size };
}

/** What a line allocates is freed at the end of its step at the latest; `line`: such as `train.py:38`. `found`: how many live shorter. */
export function freedWithStep(
  run: RecordedRun,
  planned: readonly Planned[],
  line: string,
): { planned: Planned[]; found: number } {
  const ends = endsOf(run);
  const isLine = run.sites.map(site => site.line === line || site.line.endsWith(`/${line}`));
  let found = 0;
  const all = planned.map(one => {
    const end = (ends.get(run.step[one.allocation] ?? 0) ?? Infinity) + JUST_BEHIND;
    if (isLine[run.site[one.allocation] ?? 0] !== true || one.end <= end) return one;
    found++;
    return { ...one, end };
  });
  return { planned: all, found };
}

/** Gradients are freed at the end of each step (`set_to_none=True`): what was added to one that stayed is the gradient then. */
export function withoutGradients(run: RecordedRun, planned: readonly Planned[]): { planned: Planned[]; found: number } {
  const ends = endsOf(run);
  const stepOf = ({ allocation }: Planned): number => run.step[allocation] ?? 0;
  const keyOf = ({ allocation }: Planned): string => `${run.module[allocation]} ${run.bytes[allocation]}`;
  // They outlive the next step too.
  const isKept = (one: Planned): boolean =>
    categoryOf(run, one.allocation) === 'gradient' && one.end > (ends.get(stepOf(one) + 1) ?? Infinity);
  const kept = new Map<string, number>(); // how many, by module and size
  for (const one of planned) if (isKept(one)) kept.set(keyOf(one), (kept.get(keyOf(one)) ?? 0) + 1);
  const taken = new Map<string, number>();
  let found = 0;
  const all = planned.map(one => {
    const end = (ends.get(stepOf(one)) ?? Infinity) + JUST_BEHIND;
    const key = `${stepOf(one)} ${keyOf(one)}`;
    const isGradient = isKept(one);
    if (!isGradient && (passOf(run, one.allocation) !== 'backward' || one.end > end)) return one;
    const before = taken.get(key) ?? 0;
    if (before >= (kept.get(keyOf(one)) ?? 0)) return one;
    taken.set(key, before + 1);
    if (isGradient) found++;
    return { ...one, end };
  });
  return { planned: found === 0 ? [...planned] : all, found };
}
