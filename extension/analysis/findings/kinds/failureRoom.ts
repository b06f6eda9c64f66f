// What room a failed allocation had: on its device, and within what PyTorch could have.
import type { OutOfMemory, TraceInfo } from '../../../protocol/trace';
import type { OutOfMemoryVerdict } from '../../../protocol/verdicts';
import { unusedIn } from '../../ledger/pools';

export type Room = Pick<OutOfMemoryVerdict, 'totalBytes' | 'freeBytes' | 'othersBytes'>;

/** Of the device. Its own account was read a moment ago: what the driver's calls took and freed since is counted too. */
export function roomOf({ device, snapshot, freeBytes: reportedFree }: OutOfMemory, info: TraceInfo): Room {
  const known = info.devices.find(({ index }) => index === device)?.totalBytes;
  const totalBytes = (snapshot?.totalBytes ?? known) || null;
  if (snapshot === null || totalBytes === null) return { totalBytes, freeBytes: reportedFree, othersBytes: null };
  const { usedBytes, processBytes, driverBytes, tracedBytes } = snapshot;
  const othersBytes = usedBytes === null || processBytes === null ? null : usedBytes - processBytes;
  const used = driverBytes + Math.max(0, (usedBytes ?? 0) - (tracedBytes ?? 0));
  return { totalBytes, freeBytes: reportedFree ?? Math.max(0, totalBytes - used), othersBytes };
}

/** Limit, in use, missing: the request does not fit by so much. Unknown where enough lies free in parts; more than the GPU has, nothing frees. */
export function figuresOf(
  { layer, requestedBytes, snapshot, freeBytes: reportedFree }: OutOfMemory,
  { totalBytes, freeBytes }: Room,
): Pick<OutOfMemoryVerdict, 'limitBytes' | 'inUseBytes' | 'missingBytes'> {
  const { reservedBytes = null, tensorBytes = 0, pools = [], usedBytes } = snapshot ?? {};
  const isFreeKnown = reportedFree !== null || typeof usedBytes === 'number';
  const limitBytes = (reservedBytes ?? 0) + (isFreeKnown ? (freeBytes ?? 0) : 0);
  const inUseBytes = Math.min(reservedBytes ?? 0, tensorBytes + unusedIn(pools));
  const missingBytes = inUseBytes + requestedBytes - limitBytes;
  const isPossible = layer === 'tensor' && requestedBytes <= (totalBytes ?? Infinity);
  return isPossible && reservedBytes !== null && missingBytes > 0
    ? { limitBytes, inUseBytes, missingBytes }
    : { limitBytes: null, inUseBytes: null, missingBytes: null };
}
