// The card's memory as parts of one bar: tensors inside cached segments inside what the driver handed out.
import type { TraceInfo } from '../../extension/protocol/trace';

export interface LedgerBar {
  device: number;
  name: string;
  totalBytes: number;
  tensorBytes: number;
  /** Held by the framework's cache without a tensor in it. */
  cachedBytes: number;
  /** The driver's rest: not the framework's segments. */
  otherBytes: number;
  freeBytes: number;
}

/** One bar for each device that was used, or all when none was. `reserved`: bytes by device index, where known. */
export function ledgerBars(info: TraceInfo, reserved: ReadonlyMap<number, number>): LedgerBar[] {
  const sum = (device: number, layer: 'tensor' | 'driver'): number =>
    info.totals.reduce((bytes, one) => bytes + (one.device === device && one.layer === layer ? one.liveBytes : 0), 0);
  const used = info.devices.filter(device => info.totals.some(one => one.device === device.index));
  return (used.length > 0 ? used : info.devices).map(device => {
    const tensorBytes = sum(device.index, 'tensor');
    const reservedBytes = Math.max(tensorBytes, reserved.get(device.index) ?? 0);
    const driverBytes = Math.max(reservedBytes, sum(device.index, 'driver'));
    return {
      device: device.index,
      name: device.name,
      totalBytes: device.totalBytes,
      tensorBytes,
      cachedBytes: reservedBytes - tensorBytes,
      otherBytes: driverBytes - reservedBytes,
      freeBytes: Math.max(0, device.totalBytes - driverBytes),
    };
  });
}

export interface Headline {
  liveBytes: number;
  /** null where several processes or cards were used: their peaks need not have been at one time. */
  peakBytes: number | null;
  totalBytes: number;
  allocations: number;
  frees: number;
}

/** Figures of the tensor layer where there are tensors, else of the driver's (never both: one lies inside the other). */
export function headline(info: TraceInfo): Headline {
  const tensors = info.totals.some(one => one.layer === 'tensor' && one.allocations > 0);
  const rows = info.totals.filter(one => one.layer === (tensors ? 'tensor' : 'driver') && one.device >= 0);
  const devices = info.devices.filter(device => rows.some(one => one.device === device.index));
  const sum = (pick: 'liveBytes' | 'allocations' | 'frees'): number => rows.reduce((all, one) => all + one[pick], 0);
  return {
    liveBytes: sum('liveBytes'),
    peakBytes: rows.length === 1 ? rows[0]!.peakBytes : null,
    totalBytes: (devices.length > 0 ? devices : info.devices).reduce((bytes, one) => bytes + one.totalBytes, 0),
    allocations: sum('allocations'),
    frees: sum('frees'),
  };
}
