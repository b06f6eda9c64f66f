import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../text/format';
import { cellRunsOf } from '../../protocol/notebookCells';
import { isSnapshot } from '../../protocol/notes';
import type { Finding } from '../../protocol/verdicts';
import {
  listedLayer,
  listedTotals,
  type Layer,
  type Totals,
  type TraceInfo,
  type TraceSource,
} from '../../protocol/trace';
import { lastFailure } from '../../analysis/findings/kinds/outOfMemory';
import { sum } from '../../analysis/series/statistics';
import { THRESHOLDS as T } from '../../analysis/series/thresholds';

// A program whose work is done in a function frees all of it when that returns: the end of its trace is empty, and shows nothing of what it
// did. It is shown as it was before.

/** The moment at which a trace is shown instead of its end. */
export interface Ending {
  timeNs: number;
  /** The step that ended then; null: the peak. */
  step: number | null;
  /** The cell of a notebook that ended then; absent: none did. */
  cell?: number;
  /** The allocation that the program ended with failed then. */
  failed?: true;
  /** Alive at that moment, and at the end, in the layer that is listed first. */
  bytes: number;
  leftBytes: number;
}

/** What is alive at that time is in it, however times are rounded. */
export const JUST_AFTER_NS = 100;
/** The last of a series of steps is reported as it is, however few there are to be. */
const FEWEST_POINTS = 16;

/** The failed allocation that ended it, the end of the last step, or the peak; null: the program continues, or the end holds enough to be shown. */
export function endingOf(source: TraceSource): Ending | null {
  const info = source.info();
  if (info.live || info.processes.some(isSnapshot)) return null;
  return failed(source, info) ?? fuller(source, info, true);
}

/** What was alive when the allocation failed that the program ended with: what it freed after that is no part of why. */
function failed(source: TraceSource, info: TraceInfo): Ending | null {
  const failure = lastFailure(source);
  if (failure === null) return null;
  const { timeNs } = failure;
  const series = listedLayer(info.totals);
  const bytes = series === 'host' ? 0 : (source.timeline({ series, fromNs: 0, toNs: timeNs, buckets: 1 }).at(-1) ?? 0);
  const leftBytes = sum(listedTotals(info.totals).map(total => total.liveBytes));
  return bytes > 0 ? { timeNs, step: null, failed: true, bytes, leftBytes } : null;
}

/** Bytes that are left of a program which still runs, where it has freed nearly all that it held at its last step, or all; null: it has not. */
export function leftOf(source: TraceSource): number | null {
  return fuller(source, source.info(), false)?.leftBytes ?? null;
}

/** A moment before that held much more than what is left. `ended`: where nothing but the peak held more, that is one. */
function fuller(source: TraceSource, info: TraceInfo, ended: boolean): Ending | null {
  const layer = listedLayer(info.totals);
  const listed = listedTotals(info.totals);
  const leftBytes = sum(listed.map(total => total.liveBytes));
  const moment =
    (ended ? lastCell(source, info, layer) : null) ??
    lastStep(source, info, listed, layer) ??
    (ended || leftBytes === 0 ? peakOf(listed) : null);
  return moment !== null && leftBytes < T.part * moment.bytes ? { ...moment, leftBytes } : null;
}

/** The end of the newest cell: what a kernel frees when it ends is no doing of its notebook. */
function lastCell(source: TraceSource, info: TraceInfo, layer: Layer): Omit<Ending, 'leftBytes'> | null {
  const { endNs, number: cell } = cellRunsOf(info).at(-1) ?? {};
  if (endNs === undefined || layer === 'host') return null;
  const timeNs = endNs + JUST_AFTER_NS;
  const bytes = source.timeline({ series: layer, fromNs: 0, toNs: timeNs, buckets: 1 }).at(-1) ?? 0;
  return { timeNs, step: null, cell, bytes };
}

/** The last step of the process that held most at the end of its own; null: no step is known, or all were empty then. */
function lastStep(
  source: TraceSource,
  { steps }: TraceInfo,
  listed: readonly Totals[],
  layer: Layer,
): Omit<Ending, 'leftBytes'> | null {
  const stepped = steps.filter(entry => entry.source !== 'time' && entry.count > 0);
  const ends = stepped.map(({ process, count: step, lastEndNs: timeNs }) => {
    const held = listed.flatMap(({ device, ...total }) => {
      if (total.process !== process) return [];
      return source.ledgerSeries({ process, device, points: FEWEST_POINTS })[`${layer}Bytes`].at(-1) || 0;
    });
    return { timeNs, step, held: sum(held) };
  });
  const [most] = ends.toSorted((a, b) => b.held - a.held || a.timeNs - b.timeNs);
  if (most === undefined || most.held === 0) return null;
  return { timeNs: most.timeNs, step: most.step, bytes: sum(ends.map(end => end.held)) };
}

/** When most was alive, in the layer that is listed first; null: nothing ever was. */
export function peakMoment(source: TraceSource): number | null {
  const { totals } = source.info();
  return peakOf(listedTotals(totals))?.timeNs ?? null;
}

/** Of several processes and devices the highest. */
function peakOf(totals: readonly Totals[]): Omit<Ending, 'leftBytes'> | null {
  const [most] = totals.toSorted((a, b) => b.peakBytes - a.peakBytes);
  if (most === undefined || most.peakBytes === 0) return null;
  return { timeNs: most.peakNs + JUST_AFTER_NS, step: null, bytes: most.peakBytes };
}

/** Of which moment a finding's figures are, whichever is shown: `at the end of step 200`. */
export function whenHeld(
  source: TraceSource,
  { bytesAtStep, verdict }: Pick<Finding, 'bytesAtStep' | 'verdict'>,
): string {
  if (bytesAtStep !== null) return t('at the end of step {0}', formatCount(bytesAtStep));
  if (verdict === 'oom' || endingOf(source)?.failed === true) return t('at the failed allocation');
  return source.info().live ? t('now') : t('at the end');
}

/** `As of the end of step 200`, `at the end of step 200`; and why that is shown: `the program freed everything when it ended`. */
export function endingWords({ step, cell, failed: isFailed, leftBytes }: Omit<Ending, 'timeNs' | 'bytes'>) {
  const number = formatCount(step ?? 0);
  const ofStep = [t('As of the end of step {0}', number), t('at the end of step {0}', number)] as const;
  const ofPeak = [t('As of the peak'), t('at the peak')] as const;
  const name = `In [${cell}]`;
  const ofCell = [t('As of the end of {0}', name), t('at the end of {0}', name)] as const;
  // prettier-ignore
  if (isFailed) return { title: t('As of the failed allocation'), when: t('at the failed allocation'), reason: t('the program ended with it'), show: t('Show the failed allocation') };
  const [title, when] = cell !== undefined ? ofCell : step === null ? ofPeak : ofStep;
  const reason =
    leftBytes === 0
      ? t('the program freed everything when it ended')
      : t('only {0} was left when the program ended', formatBytes(leftBytes));
  const show =
    cell !== undefined ? t('Show the last cell') : step === null ? t('Show the peak') : t('Show the last step');
  return { title, when, reason, show };
}
