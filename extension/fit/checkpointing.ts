import type { Planned } from './calls';
import { categoryOf, type RecordedRun } from './recordedRun';

// Activation checkpointing of modules: what their forward pass saves goes at its end, but for the output, and is made again when
// their backward pass begins.

/** One forward pass of one module. */
interface Call {
  allocations: Planned[];
  /** The end of the step's forward passes. */
  forwardEnd: number;
}

const JUST_BEFORE = 0.5;

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
  run: RecordedRun,
  planned: readonly Planned[],
  pattern: string,
): { planned: Planned[]; modules: number } {
  const calls = callsOfModules(run, planned, pattern);
  const ends = new Map<Planned, number>();
  const added: Planned[] = [];
  for (const call of calls.values()) recompute(run, call, ends, added);
  const kept = planned.map(one => ({ ...one, end: ends.get(one) ?? one.end }));
  const modules = new Set([...calls.keys()].map(key => key.slice(0, key.indexOf(' '))));
  return { planned: [...kept, ...added], modules: modules.size };
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
    if (known === undefined) calls.set(key, { allocations: [one], forwardEnd: 0 });
    else known.allocations.push(one);
  }
  for (const [key, call] of calls) call.forwardEnd = forwardEnd.get(Number(key.slice(key.indexOf(' ') + 1))) ?? 0;
  return calls;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function recompute(run: RecordedRun, call: Call, ends: Map<Planned, number>, added: Planned[]): void {
  const made = call.allocations.filter(({ allocation }) => categoryOf(run, allocation) === 'activation');
  const begin = Math.min(...made.map(one => one.begin));
  const end = Math.max(...made.map(one => one.begin));
  const backward = Math.min(...call.allocations.filter(one => one.begin > call.forwardEnd).map(one => one.begin));
  const stays = made.filter(one => one.end > end);
  const output = stays.at(-1);
  if (output === undefined || backward === Infinity) return;
  const saved = new Set(stays.filter(one => one !== output && one.end >= backward));
  const forward = call.allocations.filter(one => one.begin >= begin && one.begin <= end);
  for (const one of saved) ends.set(one, end + JUST_BEFORE);
  // The forward pass again, in the moment before the backward pass begins; all of it between two places.
  const share = JUST_BEFORE / (end - begin + 1);
  const again = (place: number): number => backward - JUST_BEFORE + (Math.min(place, end + 1) - begin) * share;
  for (const one of forward)
    added.push({ ...one, begin: again(one.begin), end: saved.has(one) ? one.end : again(one.end) });
}
