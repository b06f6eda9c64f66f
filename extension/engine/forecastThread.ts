// The thread that replays a run and makes forecasts of it (`forecasts.ts`).
import { parentPort, workerData } from 'node:worker_threads';
import { t } from '@vscode/l10n';
import { remembered } from '../base/maps';
import { repeatedModules } from '../fit/checkpointing';
import { answerText, changeText, gpuText, largestText, replayText, unknownTexts, type FitFacts } from '../fit/fitText';
import { fitter, type FitRun, readFitRun } from '../fit/fitRun';
import { loadNative, type NativeAddon } from '../native/addon';
import type { ForecastQuery, ShownForecast } from '../protocol/requests/forecastRequests';
import type { Forecasted, ForecastThread } from './forecasts';

const EXPANDABLE = 'expandable_segments:True';

/** Answers queries, one after the other. */
export function serveForecasts(): void {
  const { dist, path } = workerData as ForecastThread;
  let answers: Promise<(query: ForecastQuery) => Forecasted> | null = null;
  parentPort?.on('message', (query: ForecastQuery) => {
    void (answers ??= openForecasts(dist, path)).then(answer => parentPort?.postMessage(answer(query)));
  });
}

/** Replays a trace, and returns what answers for it. */
export async function openForecasts(dist: string, path: string): Promise<(query: ForecastQuery) => Forecasted> {
  const run = await openRun(dist, path);
  if ('error' in run) return () => ({ sentence: run.error, forecast: null });
  const fitters = new Map<string, ReturnType<typeof fitter>>();
  return query => {
    const { gpuBytes, batch } = query;
    if (gpuBytes === null && run.card.totalBytes === 0)
      return { sentence: t('The trace does not have the size of its GPU: choose a size.'), forecast: null };
    const of = { trace: path, runs: [run], batches: batch === null ? [] : [batch], gpuBytes };
    const facts = remembered(fitters, `${gpuBytes} ${batch}`, () => fitter(run.addon, of))(() => changeOf(query, run));
    if ('error' in facts) return { sentence: facts.error, forecast: null };
    return { sentence: answerText(facts), forecast: shownOf(facts, run) };
  };
}

async function openRun(dist: string, path: string): Promise<(FitRun & { addon: NativeAddon }) | { error: string }> {
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

function changeOf({ factor, expandable, checkpoint }: ForecastQuery, { replayed }: FitRun) {
  return { factor, checkpoint, allocator: expandable && !replayed.run.expandable ? EXPANDABLE : null };
}

function shownOf(facts: FitFacts, { replayed: { run } }: FitRun): ShownForecast {
  const { requested, batch } = facts;
  const usual = facts.changes.slice(0, -1); // behind them is what was requested
  return {
    fits: requested?.fits ?? false,
    reservedBytes: requested?.reservedBytes ?? 0,
    ways: usual.map(change => ({
      change: changeText(change, batch),
      peakBytes: change.totalBytes,
      fits: change.fits,
      largest: largestText(change.largestFactor, batch),
    })),
    modules: repeatedModules(run).map(({ pattern }) => pattern),
    expandable: run.expandable,
    notes: [gpuText(facts), replayText(facts.replay), ...unknownTexts(facts)],
  };
}
