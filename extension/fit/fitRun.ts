import { t } from '@vscode/l10n';
import { grownBatch } from '../analysis/findings/kinds/grownBatch';
import { lastFailure, limitAtEnd } from '../analysis/findings/kinds/outOfMemory';
import { readCards } from '../analysis/ledger/cardLedger';
import { THRESHOLDS as T } from '../analysis/series/thresholds';
import type { NativeAddon } from '../native/native';
import type { OutOfMemory, Totals, TraceSource } from '../protocol/trace';
import type { FitFacts } from './fitText';
import { forecaster, type Change, type Fitting, type Forecast, usualChanges } from './forecast';
import { replayTrace, type Replayed } from './replay';

// A trace as a run that forecasts are made of, and what answers for one run or two.

const POINTS = 64;
/** As many as are kept apart. */
const STEPS = 2_048;

type Addon = Pick<NativeAddon, 'openLifetimes' | 'replayAllocator' | 'findPools'>;
type Card = Pick<FitFacts, 'gpu' | 'totalBytes' | 'outsideBytes' | 'othersBytes'>;

/** The process and GPU of a trace with most tensors, and its replay. */
export interface FitRun {
  card: Card;
  totals: Totals;
  replayed: Replayed;
  /** What it could have had where it ended because memory ran out, or at least that; null: not known. */
  limitBytes: number | null;
  /** It ended in a step with a larger batch, which is left out. */
  grew: boolean;
  varied: FitFacts['varied'];
}

/** Of a trace: `name` stands for it in sentences; of all its processes where none are named. */
export interface FitSource {
  name: string;
  path: string;
  source: TraceSource;
  processes?: readonly number[];
}

/** Replays the run of a trace. `begin`: called with the number of its allocations. The error is one sentence. */
export async function readFitRun(
  addon: Addon,
  { name, path, source, processes }: FitSource,
  begin: (allocations: number) => void = () => undefined,
): Promise<FitRun | { error: string }> {
  const info = source.info();
  const totals = info.totals
    .filter(({ layer, process }) => layer === 'tensor' && (processes?.includes(process) ?? true))
    .toSorted((a, b) => b.peakBytes - a.peakBytes)[0];
  if (totals === undefined)
    return { error: t('{0} has no tensors of PyTorch, so there is nothing to forecast.', name) };
  begin(totals.allocations);
  const failure = lastFailure(source);
  const isOwn = failure?.process === totals.process && failure.device === totals.device;
  const untilStep = isOwn ? grownStep(failure, source) : undefined;
  const replayed = await replayTrace(addon, path, info, { ...totals, untilStep });
  if ('error' in replayed) return { error: t('{0} cannot be replayed: {1}.', name, replayed.error) };
  if (replayed.allocations === 0)
    return {
      error: t('{0} does not show when memory was allocated: record the program from its start.', name),
    };
  const grew = untilStep !== undefined;
  const varied = variedSteps(source, totals, untilStep);
  return { card: cardOf(source, totals), totals, replayed, limitBytes: limitAtEnd(source), grew, varied };
}

/** See FitFacts. The first step is left out: an optimizer has no states in it. */
function variedSteps(source: TraceSource, { process, device }: Totals, untilStep = Infinity): FitFacts['varied'] {
  const series = source.ledgerSeries({ process, device, points: STEPS });
  const steps = Array.from(series.tensorMaxBytes, (bytes, at) => ({ bytes, at, step: series.last[at] ?? 0 }))
    .filter(({ step }) => step > 1 && step < untilStep)
    .toSorted((a, b) => a.bytes - b.bytes);
  const [least, most] = [steps[0], steps.at(-1)];
  if (series.source === 'time' || least === undefined || most === undefined) return null;
  if (series.first[most.at] !== most.step || least.bytes >= (1 - T.part) * most.bytes) return null;
  return { step: most.step, leastBytes: least.bytes, mostBytes: most.bytes };
}

/** The step that failed because its batch was larger: that of the steps before is the recorded one. */
export function grownStep({ process, snapshot }: OutOfMemory, source: TraceSource): number | undefined {
  return snapshot !== null && grownBatch(snapshot, process, source) !== null ? snapshot.step : undefined;
}

function cardOf(source: TraceSource, { process, device }: Totals): Card {
  const card = readCards(source).find(each => each.device === device);
  const sum = (kinds: readonly string[]): number =>
    card?.parts.filter(({ kind }) => kinds.includes(kind)).reduce((total, { bytes }) => total + bytes, 0) ?? 0;
  const { processBytes, tracedBytes } = source.ledgerSeries({ process, device, points: POINTS });
  const rests = Array.from(processBytes, (bytes, at) => bytes - (tracedBytes[at] ?? 0)).filter(Number.isFinite);
  return {
    gpu: card?.name ?? '',
    totalBytes: card?.totalBytes ?? 0,
    outsideBytes: sum(['driver']) + Math.max(sum(['rest', 'untold']), ...rests),
    othersBytes: sum(['others']),
  };
}

/** Without a size, or a limit that the run met, there is no forecast for the run's own GPU. */
export const hasSize = ({ card, limitBytes }: FitRun): boolean => card.totalBytes > 0 || limitBytes !== null;

/** Which runs, with which batches, on which GPU; `gpuBytes`: one with nobody else on it, null: the run's own. */
export interface FitOf {
  trace: string;
  runs: readonly FitRun[];
  batches: readonly number[];
  gpuBytes: number | null;
}

/** What answers: the usual changes, and the one that is requested; `withBatch`: those too with its batch, else with the recorded one. The error is an option of the allocator that cannot be replayed. */
export function fitter(
  addon: Addon,
  { trace, runs, batches, gpuBytes }: FitOf,
): (requestOf: (batch: number | null) => Change | null, withBatch?: boolean) => FitFacts | { error: string } {
  // The larger run is nearer to what is forecast.
  const known = runs
    .map((run, at) => ({ ...run, batch: batches[at] ?? null }))
    .toSorted((a, b) => (b.batch ?? 0) - (a.batch ?? 0));
  const [first, second] = known;
  if (first === undefined) throw new Error('a forecast is of a run');
  const isLimit = gpuBytes === null && first.card.totalBytes === 0;
  const limit = { totalBytes: first.limitBytes ?? 0, outsideBytes: 0 }; // of PyTorch alone
  const own = isLimit ? { ...first.card, ...limit } : first.card;
  const card = gpuBytes === null ? own : { ...first.card, totalBytes: gpuBytes, othersBytes: 0 };
  const sized = known.flatMap(({ replayed, batch }) => (batch === null ? [] : [{ ...replayed, batch }]));
  const [base, run] = sized;
  const fitting: Fitting = {
    replayed: first.replayed,
    other: second === undefined || base === undefined || run === undefined ? null : { base, run },
    batch: first.batch,
    limitBytes: Math.max(0, card.totalBytes - card.outsideBytes - card.othersBytes),
    outsideBytes: card.outsideBytes,
  };
  const forecast = forecaster(addon, fitting);
  const { replayed } = first;
  let usual: (Forecast | { error: string })[] | null = null;
  return (requestOf, withBatch = false) => {
    const requested = requestOf(fitting.batch);
    const factor = withBatch ? (requested?.factor ?? 1) : 1;
    // Without gradients there is nothing to accumulate.
    usual ??= usualChanges(replayed)
      .map(change => forecast(change))
      .filter(found => 'error' in found || found.absent.length === 0);
    const changes: Forecast[] = [];
    const tried = usual.map(one => ('error' in one || factor === 1 ? one : forecast({ ...one, factor })));
    for (const found of [...tried, ...(requested === null ? [] : [forecast(requested, true)])]) {
      if ('error' in found) return found;
      changes.push(found);
    }
    return {
      ...{
        trace,
        ...card,
        isLimit,
        anotherGpu: gpuBytes !== null,
        batch: fitting.batch,
        twoRuns: fitting.other !== null,
        grew: first.grew,
        varied: first.varied,
      },
      replay: {
        ...{ allocations: replayed.allocations, equal: replayed.equal, failed: replayed.failed, pools: replayed.pools },
        ...{ recordedPeakBytes: replayed.recordedPeakBytes, peakBytes: replayed.peakBytes },
      },
      changes,
      requested: requested === null ? null : (changes.at(-1) ?? null),
    };
  };
}
