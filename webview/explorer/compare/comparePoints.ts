// The moments that can be compared, as the options of a selector.
import { t } from '@vscode/l10n';
import type { ComparedTrace, ComparePoint } from '../../../extension/protocol/requests/compareRequests';
import { pointOf, pointText } from '../../../extension/protocol/requests/compareRequests';
import { formatDuration } from '../../../extension/text/format';
import { formatWhen } from '../../../extension/text/when';
import type { Moment } from '../../../extension/protocol/requests/moment';

export type PointOption = readonly [string, string];

/** @param chosen the moment that the timeline shows: it can be compared too. @param language of the page */
export function pointOptions(traces: readonly ComparedTrace[], chosen: Moment, language: string): PointOption[] {
  const here = chosen.kind === 'at' ? [option(0, chosen.timeNs, timed(t('in the timeline'), chosen.timeNs))] : [];
  const days = new Set(traces.map(({ startMs }) => new Date(startMs).toDateString()));
  const seen = new Set<string>();
  // Of several names for a moment the first stays.
  const shown = { several: traces.length > 1, day: days.size > 1, language };
  return [...traces.flatMap(trace => optionsOf(trace, shown)), ...here].filter(
    ([value]) => !seen.has(value) && seen.add(value),
  );
}

/** Of several runs, each moment has first when the run began, which is seen where the rest is cut; of several days, also on which. */
function optionsOf(
  { trace, title, startMs, live, marks, peakNs, steps, ending }: ComparedTrace,
  { several, day, language }: { several: boolean; day: boolean; language: string },
): PointOption[] {
  const begin = startMs === 0 ? [] : [formatWhen(startMs, language, { day, second: true })];
  const named = (name: string): string => (several ? [...begin, name, title].join(' · ') : name);
  const at = (timeNs: number, name: string): PointOption => option(trace, timeNs, named(timed(name, timeNs)));
  const [newest] = steps;
  const now = newest ? t('step {0}, the newest', newest.step) : t('now');
  const shown = steps.find(({ endNs }) => endNs === ending?.timeNs);
  const last = live ? now : shown ? t('step {0}, end', shown.step) : (ending?.when ?? t('end'));
  return [
    [pointText({ trace, timeNs: null }), named(last)],
    ...marks.map(({ name, timeNs }) => at(timeNs, name)),
    ...(peakNs === null ? [] : [at(peakNs, t('peak'))]),
    ...steps.map(({ step, endNs }) => at(endNs, t('step {0}, end', step))),
  ];
}

const timed = (name: string, timeNs: number): string => `${name} (${formatDuration(timeNs)})`;

function option(trace: number, timeNs: number, label: string): PointOption {
  return [pointText({ trace, timeNs: Math.round(timeNs) }), label];
}

/**
 * What is compared: the choice where it is there, else the newest mark and the newest step; without marks the step before that, the
 * peak, or another trace's end.
 */
export function chosenPoints(
  traces: readonly ComparedTrace[],
  choice: { a: string | null; b: string | null },
): { a: ComparePoint; b: ComparePoint } {
  const known = (text: string | null): ComparePoint | null => {
    const point = text === null ? null : pointOf(text);
    return point !== null && traces.some(({ trace }) => trace === point.trace) ? point : null;
  };
  return { a: known(choice.a) ?? usualA(traces), b: known(choice.b) ?? { trace: 0, timeNs: null } };
}

function usualA([shown, other]: readonly ComparedTrace[]): ComparePoint {
  const at = (timeNs: number): ComparePoint => ({ trace: 0, timeNs: Math.round(timeNs) });
  const mark = shown?.marks.at(-1);
  if (mark) return at(mark.timeNs);
  const ended = shown?.steps[0]?.endNs; // what runs is compared there, and between that and the end little happens
  const beforeNs = shown?.ending?.timeNs ?? ended ?? Infinity;
  const step = shown?.steps.find(({ endNs }) => endNs < beforeNs);
  if (step) return at(step.endNs);
  if (typeof shown?.peakNs === 'number') return at(shown.peakNs);
  return { trace: other?.trace ?? 0, timeNs: null };
}
