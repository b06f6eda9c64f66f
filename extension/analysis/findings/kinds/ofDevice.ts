// What all findings on a whole layer of a device have.
import type { TraceSource } from '../../../protocol/trace';
import type { Finding } from '../../../protocol/verdicts';
import type { JudgedLedger } from '../../ledger/ledger';
import type { Growth } from '../../series/growth';
import type { JudgedSite } from '../../sites/states';
import { rateText } from '../../words';

export interface LayerContext {
  source: TraceSource;
  leaks: readonly Finding[];
  /** Processes whose steps may be a set-up. */
  setUps: readonly number[];
  /** Of all processes. */
  sites: readonly JudgedSite[];
}

/** A finding on a device's driver layer; `kind` sets its id apart from others of that device. */
export function ofDevice({ ledger: { process, device } }: JudgedLedger, kind: string) {
  return { id: `${kind} ${process} ${device}`, process, device, layer: 'driver' as const };
}

export function layerGrowthOf(growth: Growth) {
  return {
    detail: rateText(growth.perStep, growth.since),
    bytesPerStep: growth.perStep,
    sinceStep: growth.since,
  };
}
