import { isatty } from 'node:tty';
import { readCards } from '../analysis/ledger/cardLedger';
import { type FitFacts, fitText } from '../fit/fitText';
import { forecaster, type Change, type Fitting, type Forecast, UNCHANGED, usualChanges } from '../fit/forecast';
import { replayTrace, type Replayed } from '../fit/replay';
import type { NativeAddon } from '../native/addon';
import { formatCount } from '../text/format';
import { allocatorSettings } from '../protocol/rank';
import type { Totals } from '../protocol/trace';
import type { FitArguments } from './arguments/fitArguments';
import { type OpenTrace, openNamed } from './namedTrace';
import { closeTrace } from '../jobs/openTraceFile';
import { print, refuse } from './output/output';
import { writeResult } from './output/resultFile';
import { jsonChunks } from './report/jsonChunks';

const FAILED = 1;
const TOO_BIG = 3;
const POINTS = 64;
/** Allocations whose replay takes more than a few seconds. */
const MANY = 200_000;

/** What `fit` answers; the JSON document as it stands. */
export interface FitAnswer extends FitFacts {
  version: 1;
  pid: number;
  device: number;
  replay: FitFacts['replay'] & Pick<Replayed, 'pools'>;
}

/** Says whether a run would fit. Returns the exit status: 0, 3 where what was requested does not fit, or 1. */
export async function fit(options: FitArguments, dist: string): Promise<number> {
  const answer = await fitAnswer(options, dist);
  if ('error' in answer) return refuse(answer.error, FAILED);
  if (options.format === 'json') writeResult(jsonChunks(answer), null);
  else print(fitText(answer));
  return answer.requested?.fits === false ? TOO_BIG : 0;
}

/** The error is one sentence. */
export async function fitAnswer(options: FitArguments, dist: string): Promise<FitAnswer | { error: string }> {
  const base = await openRun(options.where, dist, options.gpuBytes);
  if ('error' in base) return base;
  const { addon, totals } = base;
  const other = options.other === null ? null : await openRun(options.other, dist, options.gpuBytes);
  if (other !== null && 'error' in other) return other;
  if (base.card.totalBytes === 0)
    return { error: `${options.where} does not have the size of its GPU: give it, such as --gpu 80GiB.` };
  if (base.replayed.allocations === 0)
    return { error: `${options.where} does not show when memory was allocated: record the program from its start.` };
  const [batch = null, otherBatch = null] = options.batches;
  const runs =
    other === null || batch === null || otherBatch === null
      ? null
      : ([
          { ...base.replayed, batch },
          { ...other.replayed, batch: otherBatch },
        ] as const);
  // The larger run is nearer to what is forecast.
  const { card, replayed: larger } = runs !== null && runs[1].batch > runs[0].batch && other !== null ? other : base;
  const [one, two] = runs?.toSorted((a, b) => b.batch - a.batch) ?? [];
  const fitting: Fitting = {
    replayed: larger,
    other: one === undefined || two === undefined ? null : { base: one, run: two },
    batch: one?.batch ?? batch,
    limitBytes: Math.max(0, card.totalBytes - card.outsideBytes - card.othersBytes),
    outsideBytes: card.outsideBytes,
  };
  const forecast = forecaster(addon, fitting);
  const changes: Forecast[] = [];
  const asked = requestedChange(options, fitting.batch);
  for (const change of [...usualChanges(larger), ...(asked === null ? [] : [asked])]) {
    const found = forecast(change);
    if ('error' in found) return { error: `--allocator: ${found.error} is not an option that can be replayed.` };
    if (change.checkpoint !== null && found.modules === 0)
      return { error: `--checkpoint ${change.checkpoint}: no module of the run has such a path.` };
    changes.push(found);
  }
  return {
    ...{ version: 1, trace: options.where, pid: totals.pid, device: totals.device, gpu: card.name },
    anotherGpu: options.gpuBytes !== null,
    ...{ batch: fitting.batch, twoRuns: runs !== null, totalBytes: card.totalBytes },
    ...{ outsideBytes: card.outsideBytes, othersBytes: card.othersBytes },
    replay: {
      ...{ allocations: larger.allocations, equal: larger.equal, failed: larger.failed, pools: larger.pools },
      ...{ recordedPeakBytes: larger.recordedPeakBytes, peakBytes: larger.peakBytes },
    },
    changes,
    requested: asked === null ? null : (changes.at(-1) ?? null),
  };
}

type Card = Pick<FitAnswer, 'totalBytes' | 'outsideBytes' | 'othersBytes'> & { name: string };
interface OpenedRun {
  addon: NativeAddon;
  card: Card;
  totals: Totals;
  replayed: Replayed;
}

async function openRun(where: string, dist: string, gpuBytes: number | null): Promise<OpenedRun | { error: string }> {
  const opened = await openNamed(where, dist);
  if ('error' in opened) return opened;
  try {
    const info = opened.session.info();
    const totals = info.totals
      .filter(({ layer, process }) => layer === 'tensor' && opened.processes.includes(process))
      .toSorted((a, b) => b.peakBytes - a.peakBytes)[0];
    const process = info.processes[totals?.process ?? -1];
    if (totals === undefined || process === undefined)
      return { error: `${where} has no tensors of PyTorch, so there is nothing to forecast.` };
    if (totals.allocations > MANY && isatty(2))
      print([`Replaying ${formatCount(totals.allocations)} allocations …`], 2);
    const replayed = await replayTrace(opened.addon, opened.trace.path, totals, allocatorSettings(process));
    if ('error' in replayed) return { error: `${where} cannot be replayed: ${replayed.error}.` };
    return { addon: opened.addon, card: cardOf(opened, totals, gpuBytes), totals, replayed };
  } finally {
    closeTrace(opened);
  }
}

/** The GPU of the run, or one with so much memory and nobody else on it. */
function cardOf({ session }: OpenTrace, { process, device }: Totals, gpuBytes: number | null): Card {
  const card = readCards(session).find(each => each.device === device);
  const sum = (kinds: readonly string[]): number =>
    card?.parts.filter(({ kind }) => kinds.includes(kind)).reduce((total, { bytes }) => total + bytes, 0) ?? 0;
  // The GPU's own account of the process is read now and then: a reading may be older than what its driver had by the end of the step.
  const { processBytes, driverBytes } = session.ledgerSeries({ process, device, points: POINTS });
  const rests = Array.from(processBytes, (bytes, at) => bytes - (driverBytes[at] ?? 0)).filter(Number.isFinite);
  return {
    name: card?.name ?? '',
    totalBytes: gpuBytes ?? card?.totalBytes ?? 0,
    outsideBytes: sum(['driver']) + Math.max(sum(['rest', 'untold']), ...rests),
    othersBytes: gpuBytes === null ? sum(['others']) : 0,
  };
}

function requestedChange({ tried, checkpoint, allocator }: FitArguments, batch: number | null): Change | null {
  if (tried === null && checkpoint === null && allocator === null) return null;
  return { ...UNCHANGED, checkpoint, allocator, factor: tried === null || batch === null ? 1 : tried / batch };
}
