import { remembered } from '../base/maps';
import type { Planned } from './calls';
import { membersOf, repeatedModules } from './repeatedModules';
import { categoryOf, passOf, type RecordedRun } from './recordedRun';

// Fully sharded data parallel training: each of several ranks holds a part of the model, and gathers a unit of it while that runs.

/** Where something runs, in places of the run. */
interface Span {
  begin: number;
  end: number;
}
interface Unit {
  forward: Span;
  backward: Span;
}

const ASIDE = 0.4;
const NOWHERE: Span = { begin: Infinity, end: -Infinity };
/** All that is in none of the units. */
const ROOT = '';

/** Streams of communication: what lies there is not reused by the program's own. */
const [GATHER, REDUCE] = [1, 2];

/**
 * The plan of one of `ranks`, as FSDP2 has it: parameters, gradients and the optimizer's states are divided. The parameters of a unit,
 * one of many modules that are alike, are whole while its pass runs, those of the rest for both passes; they come in a buffer of the
 * stream that gathers, which lives until the next one is taken. Gradients are whole until the backward pass of their unit is over, and
 * are divided in a buffer of the stream that reduces them. `found`: how many units.
 */
export function sharded(
  run: RecordedRun,
  planned: readonly Planned[],
  ranks: number,
): { planned: Planned[]; found: number } {
  const [first] = repeatedModules(run);
  const members = first === undefined ? [] : membersOf(run, first.pattern);
  const unitOf = ({ allocation }: Planned): string => members[run.module[allocation] ?? 0] ?? ROOT;
  const steps = stepsOf(run, planned, unitOf);
  const share = 1 / ranks;
  const parameters = new Map<string, Planned[]>();
  const all = planned.flatMap((one): Planned[] => {
    const category = categoryOf(run, one.allocation);
    if (category === 'parameter') remembered(parameters, unitOf(one), () => []).push(one);
    if (category === 'gradient')
      return gradientOf(one, steps.get(run.step[one.allocation] ?? 0)?.get(unitOf(one)), share);
    const isOptimizer = passOf(run, one.allocation) === 'optimizer';
    return [category === 'parameter' || category === 'optimizer' || isOptimizer ? partOf(one, share) : one];
  });
  for (const units of steps.values())
    for (const { unit, span, buffer, stream } of spansIn(units)) {
      const own = (parameters.get(unit) ?? []).filter(one => one.begin < (span ?? buffer).begin);
      const bytes = own.map(({ allocation }) => run.bytes[allocation] ?? 0);
      const [largest] = own.toSorted((a, b) => (run.bytes[b.allocation] ?? 0) - (run.bytes[a.allocation] ?? 0));
      if (largest === undefined) continue;
      const times = bytes.reduce((sum, one) => sum + one, 0) / (run.bytes[largest.allocation] ?? 1);
      all.push({ ...partOf(largest, times), ...buffer, stream });
      if (span !== null) all.push(...own.map(one => ({ ...one, ...span })));
    }
  return { planned: all, found: new Set(members.filter(unit => unit !== undefined)).size };
}

const partOf = (one: Planned, share: number): Planned => ({ ...one, share: (one.share ?? 1) * share });

/** Whole until the backward pass of its unit is over, a part behind it. */
function gradientOf(one: Planned, unit: Unit | undefined, share: number): Planned[] {
  const over = (unit?.backward.end ?? one.begin) + ASIDE;
  if (over <= one.begin || over >= one.end) return [partOf(one, share)];
  return [
    { ...one, end: over },
    { ...partOf(one, share), begin: over, stream: REDUCE },
  ];
}

function stepsOf(
  run: RecordedRun,
  planned: readonly Planned[],
  unitOf: (one: Planned) => string,
): Map<number, Map<string, Unit>> {
  const steps = new Map<number, Map<string, Unit>>();
  for (const one of planned) {
    const pass = passOf(run, one.allocation);
    if (pass !== 'forward' && pass !== 'backward') continue;
    const units = remembered(steps, run.step[one.allocation] ?? 0, () => new Map<string, Unit>());
    const unit = remembered(units, unitOf(one), () => ({ forward: { ...NOWHERE }, backward: { ...NOWHERE } }));
    unit[pass].begin = Math.min(unit[pass].begin, one.begin);
    unit[pass].end = Math.max(unit[pass].end, one.begin);
  }
  return steps;
}

/** A buffer of all parameters of a unit, and when they are whole; null: it is of their gradients. */
interface Gathered {
  unit: string;
  span: Span | null;
  buffer: Span;
  stream: number;
}

function spansIn(units: Map<string, Unit>): Gathered[] {
  const all: Gathered[] = [];
  for (const pass of ['forward', 'backward'] as const) {
    const order = [...units]
      .filter(([, spanned]) => spanned[pass].end >= spanned[pass].begin)
      .toSorted(([, a], [, b]) => a[pass].begin - b[pass].begin);
    order.forEach(([unit, { [pass]: own }], at) => {
      const [before, behind] = [order[at - 1]?.[1][pass], order[at + 1]?.[1][pass]];
      const begin = own.begin - ASIDE;
      const whole = { begin, end: own.end + ASIDE };
      // In the backward pass, the next unit is gathered in advance.
      const buffer =
        pass === 'forward'
          ? { begin, end: behind === undefined ? own.end : behind.begin }
          : { begin: (before?.begin ?? own.begin) - ASIDE, end: own.begin };
      if (unit !== ROOT) all.push({ unit, span: whole, buffer, stream: GATHER });
      else if (pass === 'forward')
        all.push({
          unit,
          span: { begin, end: Math.max(own.end, units.get(ROOT)?.backward.end ?? 0) },
          buffer,
          stream: GATHER,
        });
      if (pass === 'backward')
        all.push({
          unit,
          span: null,
          buffer: { begin: own.end + ASIDE / 2, end: (behind?.end ?? own.end + 1) + ASIDE },
          stream: REDUCE,
        });
    });
  }
  return all;
}
