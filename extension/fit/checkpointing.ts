import { firstWhere } from '../base/bisect';
import type { Planned } from './calls';
import { boundsOf, parameterSizes, type SizedRun } from './otherBatch';
import { categoryOf, type RecordedRun } from './recordedRun';

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
/** Allocations between the input of a module and its first own one, at the most. */
const NEAR = 100;

/** The paths of modules that are one of many alike: `layers.3` of `layers.3.mlp.up`. Each with its activations' bytes, the biggest first. */
export function repeatedModules(run: RecordedRun): { pattern: string; count: number }[] {
  const bytes = new Map<string, number>();
  const members = new Map<string, Set<string>>();
  const own = run.modules.map(path => /^((?:.*?\.)?)(\d+)(?=\.|$)/.exec(path));
  for (let at = 0; at < run.count; at++) {
    const found = own[run.module[at] ?? 0];
    if (found === undefined || found === null || categoryOf(run, at) !== 'activation') continue;
    const [whole, list = ''] = found;
    const pattern = `${list}*`;
    bytes.set(pattern, (bytes.get(pattern) ?? 0) + (run.bytes[at] ?? 0));
    members.set(pattern, (members.get(pattern) ?? new Set()).add(whole));
  }
  return [...bytes]
    .map(([pattern, sum]) => ({ pattern, count: members.get(pattern)?.size ?? 0, sum }))
    .filter(({ count }) => count > 1)
    .toSorted((a, b) => b.sum - a.sum);
}

/** The plan with the modules that fit the pattern (`layers.*`) checkpointed; `modules`: how many do. */
export function checkpointed(
  sized: SizedRun,
  planned: readonly Planned[],
  pattern: string,
): { planned: Planned[]; modules: number } {
  const { run, requested } = sized;
  const calls = callsOfModules(run, planned, pattern);
  const sizes = parameterSizes(run, requested);
  const isCast = ({ allocation }: Planned): boolean => {
    const { least, most } = boundsOf(sized, allocation);
    return [...(sizes.get(run.module[allocation] ?? 0) ?? [])].some(bytes => bytes / 2 >= least && bytes / 2 <= most);
  };
  const plan: Plan = { run, requested, planned, isCast, ends: new Map(), added: [] };
  for (const call of calls.values()) recompute(plan, call);
  const kept = planned.map(one => ({ ...one, end: plan.ends.get(one) ?? one.end }));
  const modules = new Set([...calls.keys()].map(key => key.slice(0, key.indexOf(' '))));
  return { planned: [...kept, ...plan.added], modules: modules.size };
}

/** What checkpointing changes of a plan: some allocations end at another place, and some are made again. */
interface Plan extends Pick<SizedRun, 'run' | 'requested'> {
  planned: readonly Planned[];
  /** A parameter in half its precision, as autocast makes it. */
  isCast: (one: Planned) => boolean;
  ends: Map<Planned, number>;
  added: Planned[];
}

function callsOfModules(run: RecordedRun, planned: readonly Planned[], pattern: string): Map<string, Call> {
  const wanted = new RegExp(`^${pattern.split('*').map(escaped).join('[^.]*')}(?=\\.|$)`);
  const own = run.modules.map(path => wanted.exec(path)?.[0]);
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
  return calls;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function recompute(plan: Plan, call: Call): void {
  const { run, ends, added, isCast } = plan;
  const made = call.allocations.filter(({ allocation }) => categoryOf(run, allocation) === 'activation');
  const begin = Math.min(...made.map(one => one.begin));
  const end = Math.max(...made.map(one => one.begin));
  const backward = backwardOf(run, call);
  const stays = made.filter(one => one.end > end);
  const output = stays.reduce<Planned | undefined>((last, one) => resultOf(plan, last, one), undefined);
  if (output === undefined || backward === Infinity) return;
  const saved = new Set(stays.filter(one => one !== output && one.end >= backward));
  // Autocast keeps its copies of parameters until its block ends.
  const unsaved = lifeUnsaved(plan, call.path, made);
  for (const one of saved) ends.set(one, (isCast(one) ? call.forwardEnd : unsaved(one)) + JUST_BEFORE);
  const input = inputOf(plan, begin, output);
  // It is held until the backward pass ends with its own gradient.
  const over = Math.max(...call.allocations.map(one => one.begin)) - JUST_BEFORE;
  if (input !== undefined) ends.set(input, Math.max(ends.get(input) ?? input.end, over));
  // The forward pass again, up to what it saves last, in the moment before the backward pass begins; all of it between two places.
  const last = Math.max(...[...saved].map(one => one.begin));
  const forward = call.allocations.filter(one => one.begin >= begin && one.begin <= last);
  const share = JUST_BEFORE / (end - begin + 1);
  const again = (place: number): number => backward - JUST_BEFORE + (Math.min(place, end + 1) - begin) * share;
  for (const one of forward)
    added.push({ ...one, begin: again(one.begin), end: saved.has(one) ? one.end : again(one.end) });
}

/**
 * How long a tensor lives in the forward pass of a module at `path` if nothing saves it: what a module inside makes for itself, until
 * that ends; what it returns, until the module around it ends, and in the outermost one until the next module inside ends.
 */
function lifeUnsaved(plan: Plan, path: string, made: readonly Planned[]): (one: Planned) => number {
  const { module, modules } = plan.run;
  const own = ({ allocation }: Planned): string => modules[module[allocation] ?? 0] ?? '';
  const [ends, results] = [new Map<string, number>(), new Map<string, Planned>()];
  for (const one of made) {
    for (const inside of pathsBetween(own(one), path)) {
      ends.set(inside, one.begin);
      results.set(inside, resultOf(plan, results.get(inside), one));
    }
  }
  const end = ends.get(path) ?? Infinity;
  const children = [...ends].filter(([inside]) => parentOf(inside) === path).map(([, last]) => last);
  return one => {
    let inside = own(one);
    while (inside.length > path.length && results.get(inside) === one) {
      const around = parentOf(inside);
      if (around === path) {
        const next = children.filter(last => last > Math.max(one.begin, ends.get(inside) ?? 0));
        return Math.min(end, ...next);
      }
      inside = around;
    }
    return ends.get(inside) ?? end;
  };
}

/** What a module returns: what its last part makes last, but for means and the like beside it. */
function resultOf({ run, requested }: Plan, before: Planned | undefined, one: Planned): Planned {
  if (before === undefined || run.module[before.allocation] !== run.module[one.allocation]) return one;
  return (requested[one.allocation] ?? 0) * BESIDE >= (requested[before.allocation] ?? 0) ? one : before;
}

/** A path inside another, those above it, and the other. */
const pathsBetween = (inside: string, path: string): string[] =>
  inside.length <= path.length ? [path] : [inside, ...pathsBetween(parentOf(inside), path)];

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('.')));

/** Where its backward pass first needs what was saved: in a module inside it, as what it does itself is sums and casts; Infinity: nowhere. */
function backwardOf({ module, modules }: RecordedRun, { path, allocations, forwardEnd }: Call): number {
  const all = allocations.filter(one => one.begin > forwardEnd);
  const inside = all.filter(one => modules[module[one.allocation] ?? 0] !== path);
  return Math.min(...(inside.length > 0 ? inside : all).map(one => one.begin));
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
