import { firstWhere } from '../base/bisect';
import { remembered } from '../base/maps';
import type { Planned } from './calls';
import { boundsOf, rounded, type SizedRun } from './otherBatch';
import { categoryOf, passOf, type RecordedRun } from './recordedRun';
import { isBuffer } from './reductionBuffers';
import { membersOf } from './repeatedModules';
import { ROUNDING } from './requestSizes';

// Activation checkpointing of modules: what their forward pass saves goes at its end, but for the output, and is made again when
// their backward pass begins.

/** One forward pass of one module. */
interface Call {
  /** Of the module. */
  path: string;
  allocations: Planned[];
  /** The end of the step's forward passes. */
  forwardEnd: number;
}

const JUST_BEFORE = 0.5;
/** A result is at least such a part of what a module makes beside it: half as many bytes for each number, or one of few heads. */
const BESIDE = 16;
/** Counts, scales and seeds. */
const SMALL_BYTES = 4096;
/** Allocations between the input of a module and its first own one, at the most. */
const NEAR = 100;

/** The plan with the modules that fit the pattern (`layers.*`) checkpointed; `found`: how many do. */
export function checkpointed(
  sized: SizedRun,
  planned: readonly Planned[],
  pattern: string,
): { planned: Planned[]; found: number } {
  const { run, requested } = sized;
  const calls = callsOfModules(run, planned, pattern);
  const parameters = parametersOf(run);
  const plan: Plan = {
    run,
    requested,
    planned,
    castsOf: made => castsOf(sized, parameters, made),
    ends: new Map(),
    added: [],
  };
  for (const call of calls.values()) recompute(plan, call);
  const kept = planned.map(one => ({ ...one, end: plan.ends.get(one) ?? one.end }));
  const modules = new Set([...calls.keys()].map(key => key.slice(0, key.indexOf(' '))));
  return { planned: [...kept, ...plan.added], found: modules.size };
}

/** What checkpointing changes of a plan: some allocations end at another place, and some are made again. */
interface Plan extends Pick<SizedRun, 'run' | 'requested'> {
  planned: readonly Planned[];
  /** Of a forward pass: parameters in half their precision, as autocast makes them. */
  castsOf: (made: readonly Planned[]) => Set<Planned>;
  ends: Map<Planned, number>;
  added: Planned[];
}

/** Of a forward pass; what functions with a backward pass of their own make has no name. */
const isMade = (run: RecordedRun, at: number): boolean =>
  categoryOf(run, at) === 'activation' || (categoryOf(run, at) === 'unnamed' && passOf(run, at) === 'forward');

/** The bytes of the parameters, by module. */
export function parametersOf(run: RecordedRun): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (let at = 0; at < run.count; at++)
    if (categoryOf(run, at) === 'parameter') remembered(found, run.module[at] ?? 0, () => []).push(run.bytes[at] ?? 0);
  return found;
}

/** For each parameter the first tensor of its module that can be half of it. */
export function castsOf(sized: SizedRun, parameters: Map<number, number[]>, made: readonly Planned[]): Set<Planned> {
  const left = new Map<number, number[]>();
  return new Set(
    made.filter(({ allocation }) => {
      const module = sized.run.module[allocation] ?? 0;
      const own = remembered(left, module, () => [...(parameters.get(module) ?? [])]);
      const { least, most } = boundsOf(sized, allocation);
      const at = own.findIndex(bytes => rounded(bytes / 2) >= least && bytes / 2 <= most);
      if (at >= 0) own.splice(at, 1);
      return at >= 0;
    }),
  );
}

function callsOfModules(run: RecordedRun, planned: readonly Planned[], pattern: string): Map<string, Call> {
  const own = membersOf(run, pattern);
  const forwardEnd = new Map<number, number>();
  const calls = new Map<string, Call>();
  for (const one of planned) {
    const step = run.step[one.allocation] ?? 0;
    if (categoryOf(run, one.allocation) === 'activation')
      forwardEnd.set(step, Math.max(forwardEnd.get(step) ?? 0, one.begin));
    const module = own[run.module[one.allocation] ?? 0];
    if (module === undefined) continue;
    const key = `${module} ${step}`;
    const known = calls.get(key);
    if (known === undefined) calls.set(key, { path: module, allocations: [one], forwardEnd: 0 });
    else known.allocations.push(one);
  }
  for (const [key, call] of calls) call.forwardEnd = forwardEnd.get(Number(key.slice(key.indexOf(' ') + 1))) ?? 0;
  takeUnnamed(run, planned, own, [...calls.values()]);
  return calls;
}

/** What is made while a module runs belongs to it, also where a module inside it is not known by its path. */
function takeUnnamed(
  run: RecordedRun,
  planned: readonly Planned[],
  own: readonly (string | undefined)[],
  calls: readonly Call[],
): void {
  const spans = calls
    .map(call => {
      const begins = call.allocations.filter(({ allocation }) => isMade(run, allocation)).map(one => one.begin);
      return { call, begin: begins[0] ?? Infinity, end: begins.at(-1) ?? -Infinity };
    })
    .toSorted((a, b) => a.begin - b.begin);
  const taken = new Set<Call>();
  for (const one of planned) {
    if (own[run.module[one.allocation] ?? 0] !== undefined || !isMade(run, one.allocation)) continue;
    const span = spans[firstWhere(spans.length, at => (spans[at]?.begin ?? 0) > one.begin) - 1];
    if (span === undefined || one.begin > span.end) continue;
    span.call.allocations.push(one);
    taken.add(span.call);
  }
  for (const call of taken) call.allocations.sort((a, b) => a.begin - b.begin);
}

function recompute(plan: Plan, call: Call): void {
  const { run, ends, added } = plan;
  const made = call.allocations.filter(({ allocation }) => isMade(run, allocation));
  const begin = Math.min(...made.map(one => one.begin));
  const end = Math.max(...made.map(one => one.begin));
  const stays = made.filter(one => one.end > end);
  const output = stays.reduce<Planned | undefined>((last, one) => resultOf(plan, last, one), undefined);
  const backward = backwardOf(
    run,
    call,
    stays.filter(one => one !== output),
  );
  if (output === undefined || backward === Infinity) return;
  const saved = new Set(stays.filter(one => one !== output && one.end >= backward));
  // Autocast keeps its copies of parameters until its block ends.
  const backwardPass = ofBackward(run, call);
  const unsaved = lifeUnsaved(plan, call.path, made, backwardPass);
  const casts = plan.castsOf(made);
  for (const one of saved) ends.set(one, (casts.has(one) ? call.forwardEnd : unsaved(one)) + JUST_BEFORE);
  const input = inputOf(plan, begin, output);
  // It is held until the backward pass has taken the last of what was made again.
  const over = Math.max(...[...saved].filter(one => one.end !== Infinity).map(one => one.end));
  if (input !== undefined) ends.set(input, Math.max(ends.get(input) ?? input.end, over));
  // The forward pass again, up to what it saves last, in the moment before the backward pass begins; all of it between two places.
  const lastSaved = made.findLastIndex(one => saved.has(one));
  const [one, next] = [made[lastSaved], made[lastSaved + 1]];
  const inSame = one !== undefined && next !== undefined && run.module[one.allocation] === run.module[next.allocation];
  const isMask = inSame && isMaskOf(plan, one, next);
  const last = (isMask ? next : one)?.begin ?? begin;
  const forward = call.allocations.filter(({ begin: place }) => place >= begin && place <= last);
  const share = JUST_BEFORE / (end - begin + 1);
  const again = (place: number): number => backward - JUST_BEFORE + (Math.min(place, end + 1) - begin) * share;
  for (const one of forward)
    added.push({
      ...one,
      begin: again(one.begin),
      end: saved.has(one) ? beforeSum(run, backwardPass, one.end) : again(one.end),
    });
}

/** The place at which a function's backward pass frees what was made again for it: the sum for its bias comes behind that. */
function beforeSum(run: RecordedRun, backward: readonly Planned[], end: number): number {
  const at = firstWhere(backward.length, place => (backward[place]?.begin ?? 0) >= end);
  const [result, buffer] = [backward[at - 3], backward[at - 2]];
  return result !== undefined && buffer !== undefined && isBuffer(run, buffer.allocation)
    ? result.begin - JUST_BEFORE
    : end;
}

/** The backward pass of a call, in its order. */
const ofBackward = (run: RecordedRun, { allocations, forwardEnd }: Call): Planned[] =>
  allocations.filter(one => one.begin > forwardEnd && passOf(run, one.allocation) === 'backward');

/**
 * How long a tensor lives in the forward pass of a module at `path` if nothing saves it, by the module that takes it: the one whose
 * backward pass it was saved for. What a module inside takes lives until that returns, or is added to what that returns; what a
 * function takes, until the function returns; the inputs of one that makes several results (attention), as variables, until the
 * module around ends.
 */
function lifeUnsaved(
  plan: Plan,
  path: string,
  made: readonly Planned[],
  backward: readonly Planned[],
): (one: Planned) => number {
  const bytesOf = ({ allocation }: Planned): number => plan.requested[allocation] ?? 0;
  const own = pathWithin(plan.run, path);
  const ends = new Map<string, number>();
  for (const one of made) for (const inside of pathsBetween(own(one), path)) ends.set(inside, one.begin);
  const endOf = (inside: string): number => ends.get(inside) ?? ends.get(path) ?? Infinity;
  /** The module right inside `around` that `inside` is in, or `around` itself. */
  const childOf = (around: string, inside: string): string => {
    let child = inside;
    while (child !== around && parentOf(child) !== around && child.length > path.length) child = parentOf(child);
    return child;
  };
  const takerOf = (one: Planned): string => {
    const at = firstWhere(backward.length, place => (backward[place]?.begin ?? 0) >= one.end);
    const last = backward[at - 1];
    return last === undefined ? path : own(last);
  };
  /** Of what a module does itself without another in between: its begin and end in `made`, and the largest of it, in bytes. */
  const functionsOf = (at: number): { first: number; last: number; largest: number } => {
    const maker = own(made[at] as Planned);
    let [first, last] = [at, at];
    while (first > 0 && own(made[first - 1] as Planned) === maker) first--;
    while (last + 1 < made.length && own(made[last + 1] as Planned) === maker) last++;
    return { first, last, largest: Math.max(...made.slice(first, last + 1).map(bytesOf)) };
  };
  const placeOf = (at: number): number => made[at]?.begin ?? Infinity;
  const isBeside = (at: number, largest: number): boolean => bytesOf(made[at] as Planned) * BESIDE <= largest;
  /** Of dropout: a byte for each number of what comes next. */
  const isMask = (at: number): boolean => {
    const [one, next] = [made[at], made[at + 1]];
    return one !== undefined && next !== undefined && own(one) === own(next) && isMaskOf(plan, one, next);
  };
  /** Until `child` returns, or what `around` makes of it is added to `one`. */
  const untilReturn = (one: Planned, around: string, child: string): number => {
    const end = endOf(child);
    if (own(one) !== around) return end;
    return (
      made.find(other => other.begin > end && own(other) === around && bytesOf(other) === bytesOf(one))?.begin ?? end
    );
  };
  /** Until the next function of `around` behind a place returns. */
  const untilFunction = (around: string, place: number): number => {
    const at = made.findIndex(other => other.begin > place && own(other) === around);
    if (at < 0) return endOf(around);
    const { first, last, largest } = functionsOf(at);
    const results = made.slice(first, last + 1).some((_, beside) => isBeside(first + beside, largest));
    return results ? endOf(around) : placeOf(isMask(at) ? at + 1 : at);
  };
  const places = new Map(made.map((one, at) => [one, at]));
  return one => {
    const at = places.get(one) ?? 0;
    const [maker, taker] = [own(one), takerOf(one)];
    const { last, largest } = functionsOf(at);
    if (isMask(at)) return placeOf(at + 1);
    if (isBeside(at, largest)) return placeOf(last);
    let around = maker;
    while (around.length > path.length && !isInside(taker, around)) around = parentOf(around);
    const child = childOf(around, taker);
    if (around !== maker)
      return child === around ? untilFunction(around, endOf(childOf(around, maker))) : untilReturn(one, around, child);
    if (child !== around) return untilReturn(one, around, child);
    // What it saves itself may be taken by the next, too.
    const { first } = functionsOf(at);
    const results = made.slice(first, last + 1).some((_, beside) => isBeside(first + beside, largest));
    const later = made.slice(at + 1, last + 1).some((_, beside) => !isBeside(at + 1 + beside, largest));
    const next = made[last + 1];
    if (later || next === undefined || (!results && endOf(maker) !== placeOf(last))) return endOf(maker);
    while (around.length > path.length && !isInside(own(next), around)) around = parentOf(around);
    const following = childOf(around, own(next));
    return following === around ? untilFunction(around, one.begin) : untilReturn(one, around, following);
  };
}

/** The path of the module that makes something while the one at `path` runs; where it is not known, that. */
const pathWithin =
  ({ module, modules }: RecordedRun, path: string) =>
  ({ allocation }: Planned): string => {
    const name = modules[module[allocation] ?? 0] ?? '';
    return isInside(name, path) ? name : path;
  };

/** Whether a tensor has a byte for each number of another, as masks of dropout have. */
const isMaskOf = ({ requested }: Plan, one: Planned, other: Planned): boolean => {
  const [bytes, others] = [requested[one.allocation] ?? 0, requested[other.allocation] ?? 0];
  return (
    bytes > SMALL_BYTES && [2, 4].some(times => bytes <= rounded(others / times) && bytes > others / times - ROUNDING)
  );
};

const isInside = (inside: string, around: string): boolean =>
  around === '' || inside === around || inside.startsWith(`${around}.`);

/** What a module returns: what its last part makes last, but for means and the like beside it. */
function resultOf({ run, requested }: Plan, before: Planned | undefined, one: Planned): Planned {
  if (before === undefined || run.module[before.allocation] !== run.module[one.allocation]) return one;
  return (requested[one.allocation] ?? 0) * BESIDE >= (requested[before.allocation] ?? 0) ? one : before;
}

/** A path inside another, those above it, and the other. */
const pathsBetween = (inside: string, path: string): string[] =>
  inside.length <= path.length ? [path] : [inside, ...pathsBetween(parentOf(inside), path)];

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('.')));

/**
 * Where its backward pass first needs what was saved: in a module inside it, as what it does itself is mostly sums and casts, or with
 * the function behind which the first of what was saved is freed; Infinity: nowhere.
 */
function backwardOf(run: RecordedRun, { path, allocations, forwardEnd }: Call, saved: readonly Planned[]): number {
  const all = allocations.filter(one => one.begin > forwardEnd);
  const moduleOf = (one: Planned | undefined): string | undefined => run.modules[run.module[one?.allocation ?? 0] ?? 0];
  const inside = all.filter(one => moduleOf(one) !== path);
  const freed = Math.min(...saved.map(one => one.end).filter(end => end > (all[0]?.begin ?? Infinity)));
  const last = all.findLastIndex(one => one.begin < freed);
  // With a sum it is a product: a gradient for each of its factors, the sum, a cast.
  let begin = last;
  while (begin > 0 && moduleOf(all[begin - 1]) === path) begin--;
  const isProduct = all.slice(Math.max(0, begin), last).some(one => isBuffer(run, one.allocation));
  const own = all[isProduct ? begin : last]?.begin ?? Infinity;
  return Math.min(own, ...(inside.length > 0 ? inside : all).map(one => one.begin));
}

/** What the module works on: the tensor before its first one that has the size of its output, if there is one close by. */
function inputOf({ run, requested, planned }: Plan, begin: number, output: Planned): Planned | undefined {
  const bytes = requested[output.allocation];
  const first = firstWhere(planned.length, at => (planned[at]?.begin ?? 0) >= begin);
  return planned
    .slice(Math.max(0, first - NEAR), first)
    .findLast(
      ({ allocation, end }) =>
        end > begin && requested[allocation] === bytes && categoryOf(run, allocation) === 'activation',
    );
}
