import { reportedSource } from '../../protocol/notes';
import type { Layer, ProcessSteps, TraceInfo, TraceSource } from '../../protocol/trace';
import type { Ledger, Verdicts } from '../../protocol/verdicts';
import { findThread } from '../../protocol/threads';
import { liveBytes, reservedNow } from '../../analysis/ledger/ledgerLayer';
import { joinLibraries } from '../../analysis/ledger/libraries';
import { sumKnown } from '../../analysis/series/statistics';
import { overallVerdict } from '../../analysis/sites/overallVerdict';

// The parts of the JSON document that verdicts are in.

/** Of the process with most steps, and of each. */
export function reportSteps(info: TraceInfo, { steps, after }: Verdicts) {
  const fieldsOf = (one: ProcessSteps) => ({ count: one.count, source: reportedSource(info, one) });
  const processes = info.steps.map(one => ({ pid: pidOf(info, one.process), ...fieldsOf(one) }));
  /** What piled up behind the last one, where no step judges it. */
  const rose = after && {
    pid: pidOf(info, after.process),
    bytes: after.bytes,
    line: after.line,
    lineBytes: after.lineBytes,
  };
  return { ...steps, after: rose, processes };
}

/** The verdict on the trace as a whole; `unjudged`: lines that rose and have no verdict, with what it takes. */
export function reportVerdict(info: TraceInfo, verdicts: Verdicts) {
  const { overall, sentence } = overallVerdict(info, verdicts);
  return { state: overall, sentence, unjudged: verdicts.unjudged.map(({ site: _site, ...line }) => line) };
}

/** The process is named by its pid. */
export function reportFindings(info: TraceInfo, { findings }: Verdicts) {
  return findings.map(({ id, verdict, title, headline, detail, process, failure: _failure, ...finding }) => {
    return { id, verdict, title, headline, detail, pid: pidOf(info, process), ...finding };
  });
}

export function reportOutOfMemory(info: TraceInfo, { outOfMemory }: Verdicts) {
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

/** Sums over the processes on each device. */
export function reportLedger(source: TraceSource, info: TraceInfo, { ledger }: Verdicts) {
  return info.devices.map(({ index: device, totalBytes }) => {
    const own = ledger.filter(entry => entry.device === device);
    const known = (of: (entry: Ledger) => number | null): number | null => sumKnown(own.map(of));
    return {
      device,
      tensorBytes: liveBytes(info, 'tensor', { device }),
      /** Freed, but still in use by another stream, as PyTorch's allocator last reported; null: it was not queried. */
      pendingBytes: known(entry => entry.pending.bytes),
      reservedBytes: reservedNow(source, info, device),
      driverBytes: liveBytes(info, 'driver', { device }),
      /** Of the driver's, outside the framework's segments: by the library that called. `path` is empty for what is not known. */
      libraries: joinLibraries(own.flatMap(entry => entry.libraries)),
      /** By the device's own account (NVML). */
      processBytes: known(entry => entry.processBytes.bytes),
      usedBytes: own.find(entry => entry.usedBytes !== null)?.usedBytes ?? null,
      totalBytes: own.find(entry => entry.totalBytes !== null)?.totalBytes ?? (totalBytes > 0 ? totalBytes : null),
      /** Of the process's bytes, what no traced call took. */
      remainderBytes: known(entry => entry.remainderBytes),
      slopes: {
        tensorBytesPerSecond: growth(source, device, 'tensor'),
        driverBytesPerSecond: growth(source, device, 'driver'),
        tensorBytesPerStep: known(entry => entry.tensor.bytesPerStep),
        pendingBytesPerStep: known(entry => entry.pending.bytesPerStep),
        reservedBytesPerStep: known(entry => entry.reserved.bytesPerStep),
        driverBytesPerStep: known(entry => entry.driver.bytesPerStep),
        processBytesPerStep: known(entry => entry.processBytes.bytesPerStep),
      },
      /** The outermost layer that grows by itself. */
      grows: own.find(entry => entry.grows !== null)?.grows ?? null,
    };
  });
}

function growth(source: TraceSource, device: number, layer: Layer): number {
  const query = { layer, groupBy: 'device', sort: 'liveBytes', descending: true, device, from: 0, to: 1 } as const;
  return source.sites(query).growth[0] ?? 0;
}
