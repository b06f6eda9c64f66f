// The moments that can be compared, as the options of a selector.
import { t } from '@vscode/l10n';
import type { ComparedTrace, ComparePoint } from '../../../extension/protocol/requests/compareRequests';
import { pointOf, pointText } from '../../../extension/protocol/requests/compareRequests';
import { formatDuration } from '../../../extension/text/format';
import { formatWhen } from '../../../extension/text/when';
import type { Moment } from '../../../extension/protocol/requests/moment';
import type { Option } from '../../components';

/** Steps of a run that are offered, about. */
const MOST_STEPS = 12;
/** In a narrow panel, a name with more letters is cut; of what is the same in others, so many stay. */
const LONG_NAME = 16;
const KEPT = 4;
/** In these, weights and the optimizer's state may still come. */
const WARM_UP_STEPS = 2;

/**
 * Each moment once; of several runs below the run's name, that of `first` first.
 * @param chosen the moment that the timeline shows: it can be compared too. @param language of the page
 */
export function pointOptions(
  traces: readonly ComparedTrace[],
  chosen: Moment,
  language: string,
  first: ComparePoint = { trace: 0, timeNs: null },
): Option<string>[] {
  const days = new Set(traces.map(({ startMs }) => new Date(startMs).toDateString()));
  const severalNumbered = new Set(traces.flatMap(({ run, title }) => (run ? [title] : []))).size > 1;
  const shorten = withoutCommon(traces.flatMap(({ run, title }) => (run ? [] : [title])));
  const runs = traces.toSorted((a, b) => Number(b.trace === first.trace) - Number(a.trace === first.trace));
  return runs.flatMap((run): Option<string>[] => {
    const begin = run.startMs === 0 ? [] : [formatWhen(run.startMs, language, { day: days.size > 1 })];
    const number = run.run && (severalNumbered ? t('run {0} of {1}', run.run, run.title) : t('run {0}', run.run));
    const name = number ?? run.title;
    const script = number && !severalNumbered ? run.title : '';
    const heading = [[name, ...begin].join(', '), script, run.status].filter(Boolean).join(' · ');
    const moments = momentsOf(run, traces, chosen);
    if (traces.length === 1) return moments;
    const named = moments.map(
      ([value, moment]) => [value, `${moment} · ${number ? name : shorten(run.title)}`] as const,
    );
    return [[`run ${run.trace}`, heading, 'heading'] as const, ...named];
  });
}

/** Of long names, most of what they begin with alike goes, so that what differs is in sight. */
function withoutCommon(names: readonly string[]): (name: string) => string {
  const long = [...new Set(names)].filter(({ length }) => length > LONG_NAME);
  const [first = ''] = long;
  const same = [...first].findIndex((letter, at) => long.some(name => name[at] !== letter));
  return name => (same > 2 * KEPT && long.includes(name) ? `…${name.slice(same - KEPT)}` : name);
}

/** Of several names for a moment the first stays. */
function momentsOf(
  run: ComparedTrace,
  traces: readonly ComparedTrace[],
  chosen: Moment,
): (readonly [string, string])[] {
  const { trace, marks, peakNs } = run;
  const at = (timeNs: number, name: string) => [pointText({ trace, timeNs: Math.round(timeNs) }), name] as const;
  const steps = stepsOf(run, traces);
  const last = [pointText(whole(run, null)), lastName(run)] as const;
  const offered = [
    last,
    ...marks.map(({ name, timeNs }) => at(timeNs, `${name} (${formatDuration(timeNs)})`)),
    ...(peakNs === null ? [] : [at(peakNs, t('peak'))]),
    ...steps.map(({ step, endNs }) => at(endNs, t('end of step {0}', step))),
    ...(trace === 0 && chosen.kind === 'at'
      ? [at(chosen.timeNs, t('in the timeline ({0})', formatDuration(chosen.timeNs)))]
      : []),
  ];
  const seen = new Set<string>();
  return offered
    .map(([value, name]) => [optionOf([run], pointOf(value)!), name] as const)
    .filter(([value]) => !seen.has(value) && seen.add(value));
}

function lastName({ live, steps: [newest], ending }: ComparedTrace): string {
  if (live) return newest ? t('end of step {0}, the newest', newest.step) : t('now');
  return typeof ending?.step === 'number' ? t('end of step {0}', ending.step) : (ending?.when ?? t('end of the run'));
}

/** Newest first: the two newest, some of the others, and those at which it is compared with another run. */
function stepsOf(run: ComparedTrace, traces: readonly ComparedTrace[]): ComparedTrace['steps'] {
  const every = Math.ceil(run.steps.length / MOST_STEPS);
  const commons = (run.trace === 0 ? traces : [run]).flatMap(({ common }) => common ?? []);
  const all = [
    ...run.steps.filter((_, i) => i < 2 || i % every === 0),
    ...commons.map(common => ({ step: common.step, endNs: endIn(common, run) })),
  ];
  return [...new Map(all.map(one => [one.step, one])).values()].sort((a, b) => b.step - a.step);
}

/**
 * What is compared: the choice where it is there, else the newest mark and the newest step; without marks the run before, an early
 * step behind the warm-up, the peak, or another trace's end. Two runs are compared at the last step of both, unless moments were chosen.
 */
export function chosenPoints(
  traces: readonly ComparedTrace[],
  choice: { a: string | null; b: string | null },
  before?: number,
): { a: ComparePoint; b: ComparePoint } {
  const known = (text: string | null): ComparePoint | null => {
    const point = text === null ? null : pointOf(text);
    return point !== null && traces.some(({ trace }) => trace === point.trace) ? point : null;
  };
  const [a, b] = [known(choice.a) ?? usualA(traces, before), known(choice.b) ?? { trace: 0, timeNs: null }];
  const common = a.timeNs === null && choice.b === null ? commonOf(traces, a, b) : null;
  const of = (point: ComparePoint): ComparePoint => (common ? { ...point, timeNs: endIn(common, point) } : point);
  return { a: of(a), b: of(b) };
}

/** The last step of the shown run and another one; null: they have none in common. */
function commonOf(traces: readonly ComparedTrace[], a: ComparePoint, b: ComparePoint): ComparedTrace['common'] {
  const other = a.trace === 0 ? b.trace : b.trace === 0 ? a.trace : 0;
  return other === 0 ? null : (traces.find(({ trace }) => trace === other)?.common ?? null);
}

const endIn = ({ ownNs, shownNs }: NonNullable<ComparedTrace['common']>, { trace }: { trace: number }): number =>
  trace === 0 ? shownNs : ownNs;

/** The option of a point. */
export function optionOf(traces: readonly ComparedTrace[], point: ComparePoint): string {
  const run = traces.find(({ trace }) => trace === point.trace);
  return pointText(run ? whole(run, point.timeNs) : point);
}

/** The newest step of a run that goes on has no time of its own; the end of another one has it where another moment stands for it. */
function whole({ trace, live, steps, marks, ending }: ComparedTrace, timeNs: number | null): ComparePoint {
  const is = (ns: number | undefined): boolean => ns !== undefined && Math.round(ns) === timeNs;
  const isNewest = is(steps[0]?.endNs) && !marks.some(mark => is(mark.timeNs));
  if (live) return { trace, timeNs: isNewest ? null : timeNs };
  return { trace, timeNs: timeNs ?? (ending === null ? null : Math.round(ending.timeNs)) };
}

/** The last step of both runs, if they are compared at its end; else null. */
export function comparedStep(traces: readonly ComparedTrace[], a: ComparePoint, b: ComparePoint): number | null {
  const common = commonOf(traces, a, b);
  return common && [a, b].every(point => point.timeNs === endIn(common, point)) ? common.step : null;
}

function usualA(traces: readonly ComparedTrace[], before: number | undefined): ComparePoint {
  const [shown, other] = traces;
  const at = (timeNs: number): ComparePoint => ({ trace: 0, timeNs: Math.round(timeNs) });
  const mark = shown?.marks.at(-1);
  if (mark) return at(mark.timeNs);
  if (traces.some(({ trace }) => trace === before)) return { trace: before!, timeNs: null };
  const ended = shown?.steps[0]?.endNs; // what runs is compared there, and between that and the end little happens
  const beforeNs = shown?.ending?.timeNs ?? ended ?? Infinity;
  const early = shown?.steps.filter(({ endNs }) => endNs < beforeNs).toReversed() ?? [];
  const step = early.find(one => one.step > WARM_UP_STEPS) ?? early.at(-1);
  if (step) return at(step.endNs);
  if (typeof shown?.peakNs === 'number') return at(shown.peakNs);
  return { trace: other?.trace ?? 0, timeNs: null };
}
