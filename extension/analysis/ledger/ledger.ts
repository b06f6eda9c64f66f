import type { LedgerSeries, StepSource, TraceSource } from '../../protocol/trace';
import type { Ledger, LedgerLayer } from '../../protocol/verdicts';
import type { Growth } from '../series/growth';
import { lastKnown, layerGrowth, layerOf, reservedNow } from './ledgerLayer';
import { joinLibraries, readLibraries, type LibrarySeries } from './libraries';
import { judgePending, recentPending } from './pending';
import { at } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';

const POINTS = 256;

export interface GrowingLibrary {
  library: LibrarySeries;
  growth: Growth;
  /** From 0 to 1. */
  confidence: number;
}

/** A device's ledger with the growth of each layer beyond what lies inside it. */
export type JudgedLedger = ReturnType<typeof judgeLedger>;

/** The ledgers of all processes on all devices of the trace. */
export function readLedgers(source: TraceSource): JudgedLedger[] {
  const info = source.info();
  return info.steps.flatMap(({ process }) => {
    const used = info.totals.filter(total => total.process === process && total.device >= 0);
    const devices = [...new Set(used.map(total => total.device))].sort((a, b) => a - b);
    return devices.map(device => {
      const series = source.ledgerSeries({ process, device, points: POINTS });
      const cached = (lastKnown(series.reservedBytes) ?? reservedNow(source, info, device) ?? 0) > 0;
      return judgeLedger(series, readLibraries(source, process, device, { points: POINTS, cached }));
    });
  });
}

/** Judges which layer grows, and whether by itself. */
export function judgeLedger(series: LedgerSeries, libraries: readonly LibrarySeries[]) {
  const steps = Array.from(series.last);
  const layer = (values: Float64Array): LedgerLayer => layerOf(steps, values);
  const reserved = beyond(steps, series.reservedBytes, series.tensorMaxBytes);
  const process = beyond(steps, series.processBytes, series.driverBytes);
  const ledger: Ledger = {
    process: series.process,
    device: series.device,
    tensor: layer(series.tensorBytes),
    pending: layer(series.pendingBytes),
    reserved: layer(series.reservedBytes),
    driver: layer(series.driverBytes),
    libraries: joinLibraries(libraries),
    processBytes: layer(series.processBytes),
    usedBytes: lastKnown(series.usedBytes),
    totalBytes: lastKnown(series.totalBytes),
    remainderBytes: null,
    grows: growingLayer(steps, series, reserved, process),
  };
  const [held, traced] = [ledger.processBytes.bytes, lastKnown(series.tracedBytes)];
  if (held !== null && traced !== null) ledger.remainderBytes = held - traced;
  return {
    ledger,
    /** Growth of the cache beyond its tensors, and of the process beyond what was traced; null: does not grow so. */
    reserved,
    process,
    /** Much memory waits for a stream, or ever more; null: not so. */
    pending: judgePending(series),
    /** The most that waited at the last readings; null: the allocator was not queried. */
    recentPending: recentPending(series),
    /** Libraries whose driver memory grows. */
    growing: growingLibraries(libraries, series.source),
  };
}

/**
 * Growth of a layer that is not the growth of what lies inside it: the layer grows, by enough, and the inner one has not
 * taken up its share of it over the same time.
 */
function beyond(steps: readonly number[], outer: Float64Array, inner: Float64Array): Growth | null {
  const growth = layerGrowth(
    steps,
    outer.map((bytes, i) => (Number.isNaN(at(inner, i)) ? NaN : bytes)),
  );
  if (growth === null) return null;
  const { from, to } = growth;
  const rise = at(outer, to) - at(outer, from);
  const innerRise = highest(inner, Math.max(0, to - T.few), to) - highest(inner, Math.max(0, from - T.few), from);
  return rise >= T.little * at(outer, to) && rise - innerRise >= T.most * rise ? growth : null;
}

/** Those that grow by enough, of the ones that are known. */
function growingLibraries(libraries: readonly LibrarySeries[], source: StepSource): GrowingLibrary[] {
  const sure = source === 'time' ? 1 - T.part : 1;
  return libraries.flatMap(library => {
    const growth = library.path === '' ? null : layerGrowth(library.steps, library.values);
    return growth === null ? [] : [{ library, growth, confidence: sure * growth.confidence }];
  });
}

/** What a layer needs is its peak over a few steps, not its level at one moment. */
function highest(values: Float64Array, from: number, to: number): number {
  return values.subarray(from, to + 1).reduce((most, value) => (value > most ? value : most), 0);
}

function growingLayer(
  steps: readonly number[],
  series: LedgerSeries,
  reserved: Growth | null,
  process: Growth | null,
): Ledger['grows'] {
  if (layerGrowth(steps, series.tensorBytes, 0) !== null) return 'tensor';
  if (reserved !== null) return 'reserved';
  if (layerGrowth(steps, series.driverBytes, 0) !== null) return 'driver';
  return process === null ? null : 'process';
}
