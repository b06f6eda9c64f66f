// The thread that replays a run and makes forecasts of it (`forecasts.ts`).
import { parentPort, workerData } from 'node:worker_threads';
import { t } from '@vscode/l10n';
import { remembered } from '../base/maps';
import { repeatedModules } from '../fit/repeatedModules';
import {
  answerText,
  bestText,
  changeText,
  gpuText,
  largestText,
  notes,
  peakParts,
  replayText,
  type FitFacts,
} from '../fit/fitText';
import { fitter, hasSize, type FitRun, readFitRun } from '../fit/fitRun';
import { UNCHANGED } from '../fit/forecast';
import { loadNative, type NativeAddon } from '../native/addon';
import type { ForecastQuery, ShownForecast } from '../protocol/requests/forecastRequests';
import type { Forecasted, ForecastThread } from './forecasts';

type OpenRun = FitRun & { addon: NativeAddon };

const EXPANDABLE = 'expandable_segments:True';

/** By GPU and batch. */
const fitters = new Map<string, ReturnType<typeof fitter>>();

/** Replays the trace of this thread, and answers queries, one after the other. */
export function serveForecasts(): void {
  const { dist, path } = workerData as ForecastThread;
  const run = openRun(dist, path);
  parentPort?.on('message', async (query: ForecastQuery) => {
    const known = await run;
    const answer = 'error' in known ? { sentence: known.error, forecast: null } : answerOf(query, known);
    parentPort?.postMessage(answer);
  });
}

function answerOf({ gpuBytes, batch, factor, expandable, checkpoint }: ForecastQuery, run: OpenRun): Forecasted {
  if (gpuBytes === null && !hasSize(run))
    return { sentence: t('The trace does not record the GPU’s size. Choose one.'), forecast: null };
  const of = { trace: '', runs: [run], batches: batch === null ? [] : [batch], gpuBytes };
  const forecast = remembered(fitters, `${gpuBytes} ${batch}`, () => fitter(run.addon, of));
  const allocator = expandable && !run.replayed.run.expandable ? EXPANDABLE : null;
  const facts = forecast(() => ({ ...UNCHANGED, factor, checkpoint, allocator }), true);
  if ('error' in facts) return { sentence: facts.error, forecast: null };
  return { sentence: answerText(facts), forecast: shownOf(facts, run) };
}

async function openRun(dist: string, path: string): Promise<OpenRun | { error: string }> {
  const loaded = loadNative(dist);
  if ('error' in loaded) return loaded;
  const { addon } = loaded;
  const source = addon.open(path);
  try {
    await source.settle();
    const run = await readFitRun(addon, { name: t('This trace'), path, source });
    return 'error' in run ? run : { addon, ...run };
  } finally {
    source.close();
  }
}

function shownOf(facts: FitFacts, { replayed: { run } }: FitRun): ShownForecast {
  const { requested, batch } = facts;
  const { factor = 1 } = requested ?? {};
  const usual = facts.changes.slice(0, -1); // behind them is what was requested
  return {
    fits: requested?.fits ?? false,
    best: bestText(facts),
    parts: peakParts(facts),
    reservedBytes: requested?.reservedBytes ?? 0,
    ways: usual.map(change => ({
      change: changeText({ ...change, factor: 1 }, null, factor === 1 ? undefined : t('no other change')),
      peakBytes: change.totalBytes,
      fits: change.fits,
      largest: largestText(change.largestFactor, batch),
    })),
    modules: repeatedModules(run).map(({ pattern }) => pattern),
    expandable: run.expandable,
    notes: [gpuText(facts), replayText(facts.replay), ...notes(facts, false)],
  };
}
