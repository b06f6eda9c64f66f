import type { StepSource } from '../../protocol/steps';
import type { Layer, TraceInfo, TraceSource } from '../../protocol/trace';
import type { Finding, Ledger, LedgerLibrary, OutOfMemoryVerdict, Verdicts } from '../../protocol/verdicts';
import { findThread } from '../../protocol/threads';
import { joinLibraries } from '../ledger/libraries';
import { sum, sumKnown } from '../series/statistics';

// The parts of the JSON document that verdicts are in.

export interface ReportSteps {
  /** Of the process with most steps. */
  count: number;
  source: StepSource | 'none';
  processes: { pid: number; count: number; source: StepSource }[];
}
/** The process is named by its pid. */
export type ReportFinding = Omit<Finding, 'process'> & { pid: number };
/** Sums over the processes on the device. */
export interface ReportLedger {
  device: number;
  tensorBytes: number;
  /** Freed, but still in use by another stream, as PyTorch's allocator said last; null: it was not asked. */
  pendingBytes: number | null;
  reservedBytes: number | null;
  driverBytes: number;
  /** Of the driver's, outside the framework's segments: by the library that called. `path` is empty for what is not known. */
  libraries: LedgerLibrary[];
  /** By the device's own account (NVML). */
  processBytes: number | null;
  usedBytes: number | null;
  totalBytes: number | null;
  /** Of the process's bytes, what no traced call took. */
  remainderBytes: number | null;
  slopes: {
    tensorBytesPerSecond: number;
    driverBytesPerSecond: number;
    tensorBytesPerStep: number | null;
    pendingBytesPerStep: number | null;
    reservedBytesPerStep: number | null;
    driverBytesPerStep: number | null;
    processBytesPerStep: number | null;
  };
  /** The outermost layer that grows by itself, and what that means. */
  grows: Ledger['grows'];
  text: string;
}
export interface ReportOutOfMemory extends Partial<OutOfMemoryVerdict> {
  requestedBytes: number;
  device: number;
  site: number;
  layer: Layer;
  pid: number;
  tid: number;
  timeSeconds: number;
  liveBytes: number;
}

export function reportSteps(info: TraceInfo, { steps }: Verdicts): ReportSteps {
  const processes = info.steps.map(({ process, count, source }) => ({ pid: pidOf(info, process), count, source }));
  return { ...steps, processes };
}

export function reportFindings(info: TraceInfo, { findings }: Verdicts): ReportFinding[] {
  return findings.map(({ id, verdict, title, headline, detail, process, ...finding }) => {
    return { id, verdict, title, headline, detail, pid: pidOf(info, process), ...finding };
  });
}

export function reportOutOfMemory(info: TraceInfo, { outOfMemory }: Verdicts): ReportOutOfMemory[] {
  return info.outOfMemory.map(({ process, thread, timeNs, snapshot: _snapshot, ...failure }, i) => {
    return {
      ...failure,
      pid: pidOf(info, process),
      tid: findThread(info.processes, process, thread)?.tid ?? 0,
      timeSeconds: timeNs / 1e9,
      ...outOfMemory.find(entry => entry.index === i),
    };
  });
}

function pidOf(info: TraceInfo, process: number): number {
  return info.processes[process]?.pid ?? 0;
}

export function reportLedger(source: TraceSource, info: TraceInfo, { ledger }: Verdicts): ReportLedger[] {
  return info.devices.map(({ index: device, totalBytes }) => {
    const own = ledger.filter(entry => entry.device === device);
    const reserved = source.timeline({ series: 'reserved', device, fromNs: 0, toNs: info.durationNs, buckets: 1 });
    return {
      device,
      tensorBytes: live(info, device, 'tensor'),
      pendingBytes: sumKnown(own.map(entry => entry.pending.bytes)),
      reservedBytes: reserved[reserved.length - 1] ?? null,
      driverBytes: live(info, device, 'driver'),
      libraries: joinLibraries(own.flatMap(entry => entry.libraries)),
      processBytes: sumKnown(own.map(entry => entry.processBytes.bytes)),
      usedBytes: own.find(entry => entry.usedBytes !== null)?.usedBytes ?? null,
      totalBytes: own.find(entry => entry.totalBytes !== null)?.totalBytes ?? (totalBytes > 0 ? totalBytes : null),
      remainderBytes: sumKnown(own.map(entry => entry.remainderBytes)),
      slopes: {
        tensorBytesPerSecond: growth(source, device, 'tensor'),
        driverBytesPerSecond: growth(source, device, 'driver'),
        tensorBytesPerStep: sumKnown(own.map(entry => entry.tensor.bytesPerStep)),
        pendingBytesPerStep: sumKnown(own.map(entry => entry.pending.bytesPerStep)),
        reservedBytesPerStep: sumKnown(own.map(entry => entry.reserved.bytesPerStep)),
        driverBytesPerStep: sumKnown(own.map(entry => entry.driver.bytesPerStep)),
        processBytesPerStep: sumKnown(own.map(entry => entry.processBytes.bytesPerStep)),
      },
      grows: own.find(entry => entry.grows !== null)?.grows ?? null,
      text: [...new Set(own.map(entry => entry.text).filter(text => text !== ''))].join(' '),
    };
  });
}

function live(info: TraceInfo, device: number, layer: Layer): number {
  const own = info.totals.filter(entry => entry.device === device && entry.layer === layer);
  return sum(own.map(entry => entry.liveBytes));
}

function growth(source: TraceSource, device: number, layer: Layer): number {
  const query = { layer, groupBy: 'device', sort: 'liveBytes', descending: true, device, from: 0, to: 1 } as const;
  return source.sites(query).growth[0] ?? 0;
}
