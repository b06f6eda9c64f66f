import type { Finding } from '../../../protocol/verdicts';
import { sum } from '../../series/statistics';
import { keepsArrays } from '../../../text/libraryName';
import type { FindingContext } from './findingContext';

/** So few points are enough: the last step is given as it is. */
const FEWEST_POINTS = 16;

export interface RoomLeft {
  /** Of the GPU, as its bar shows it. */
  freeBytes: number;
  /** What the cache, or a pool of arrays, holds unused also at the peak of a step. */
  unusedBytes: number;
}

/** The room that a leak can still take; null where that is not known, and where memory ran out before. */
export function roomLeft({ process, device, layer }: Finding, { source, ledgers }: FindingContext): RoomLeft | null {
  if (source.info().outOfMemory.some(failure => failure.process === process && failure.device === device)) return null;
  const ledger = ledgers.find(entry => entry.process === process && entry.device === device);
  if (ledger === undefined || ledger.totalBytes === null || layer === 'host') return null;
  // The card's own account may be older than the last step: what the process has taken since is counted too, as the card shows it.
  const others = Math.max(0, (ledger.usedBytes ?? 0) - (ledger.processBytes.bytes ?? Infinity));
  const used = Math.max(ledger.usedBytes ?? 0, (ledger.driver.bytes ?? ledger.reserved.bytes ?? 0) + others);
  if (used === 0) return null;
  const pools = sum(ledger.libraries.filter(({ name }) => keepsArrays(name)).map(({ bytes }) => bytes));
  const inStep = source.ledgerSeries({ process, device, points: FEWEST_POINTS }).tensorMaxBytes.at(-1) || 0;
  const unusedBytes = Math.max(0, (ledger.reserved.bytes ?? 0) + pools - Math.max(ledger.tensor.bytes ?? 0, inStep));
  return { freeBytes: ledger.totalBytes - used, unusedBytes };
}
