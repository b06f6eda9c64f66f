// The memory of each card as parts that sum to its total.
import { object, type Checks } from './fieldChecks';
import { MOMENT, type OfMoment } from './moment';
import type { Frame } from '../trace';
import type { LedgerLibrary } from '../verdicts';

/**
 * - `tensor`: live tensors. `pending`: freed, but still in use by another stream. `pools`: kept for captured graphs and MemPools, no
 *   tensor in it. `cached`: held by the framework's allocator for all, no tensor in it.
 * - `driver`: given out by the driver outside the framework's segments.
 * - `rest`: of the traced processes, what no traced call took: context, modules, other libraries.
 * - `others`: other processes.
 * - `untold`: in use, by the traced processes' rest or by others; the card does not report which.
 * - `unknown`: free or in use; the card was not queried.
 */
export type LedgerPartKind =
  | 'tensor'
  | 'pending'
  | 'pools'
  | 'cached'
  | 'driver'
  | 'rest'
  | 'others'
  | 'untold'
  | 'unknown'
  | 'free';

export interface LedgerPart {
  kind: LedgerPartKind;
  bytes: number;
  /** Growth over the recent steps (Theil-Sen); null: too few steps, or not known. */
  bytesPerStep: number | null;
  /** The biggest lines in it, biggest first; empty where there are none. */
  lines: LedgerLine[];
  /** Of `driver`, by the library that called: they sum to its bytes. Empty where no library is known. */
  libraries: LedgerLibrary[];
}
export interface LedgerLine extends Frame {
  /** Path of the library that called the driver; empty: not known. */
  library: string;
  bytes: number;
}
export interface CardLedger {
  device: number;
  name: string;
  totalBytes: number;
  /** Handed out beyond the card's total (managed memory, several clocks); the parts then sum to total + over. */
  overBytes: number;
  /** In the order of the bar; they sum to totalBytes + overBytes. */
  parts: LedgerPart[];
}

export interface LedgerRequests {
  /** Each card that was used, or all where none was. */
  ledger(query: OfMoment): CardLedger[];
}

export const ledgerChecks: Checks<LedgerRequests> = { ledger: object(MOMENT) };
