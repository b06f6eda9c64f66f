import { fieldsIn } from '../../base/fields';
import type { Attributes, Metric } from '../../protocol/metrics';
import { rankOf } from '../../protocol/rank';
import type { TraceInfo, TraceSource } from '../../protocol/trace';
import type { Ledger, Verdicts } from '../../protocol/verdicts';
import { sureLeaks } from '../../analysis/findings/judgeTrace';
import { reservedNow } from '../../analysis/ledger/ledgerLayer';
import { joinLibraries } from '../../analysis/ledger/libraries';

/** Each line is a series of its own in a database of metrics, for as long as that keeps it. */
const MOST_LINES = 5;

/** By name: unit, kind, what it is. `hw.*` are OpenTelemetry's own. */
const METRICS = {
  'hw.gpu.memory.usage': ['By', 'sum', 'GPU memory used by all processes, as the GPU reports at step ends.'],
  'hw.gpu.memory.limit': ['By', 'sum', 'Total memory of the GPU.'],
  'gpu_memtrace.tensor.live': ['By', 'sum', 'Memory of live tensors.'],
  'gpu_memtrace.tensor.peak': ['By', 'gauge', 'Peak memory of live tensors.'],
  'gpu_memtrace.driver.live': ['By', 'sum', 'Memory allocated from the driver.'],
  'gpu_memtrace.driver.peak': ['By', 'gauge', 'Peak memory allocated from the driver.'],
  'gpu_memtrace.host.live': ['By', 'sum', 'Live pinned host memory.'],
  'gpu_memtrace.host.peak': ['By', 'gauge', 'Peak pinned host memory.'],
  'gpu_memtrace.reserved': ['By', 'sum', 'Memory reserved by the framework’s allocator, used or not.'],
  'gpu_memtrace.category': ['By', 'sum', 'Memory of live tensors, by purpose.'],
  'gpu_memtrace.outside': ['By', 'sum', 'Driver memory outside the framework, by library.'],
  'gpu_memtrace.leak.bytes_per_step': ['By/{step}', 'gauge', 'Growth per step of a leaking line; the 5 worst.'],
  'gpu_memtrace.oom.count': ['{failure}', 'counter', 'Allocations that failed because memory ran out.'],
  'gpu_memtrace.lost': ['{event}', 'counter', 'Events that were dropped or not recorded in full, by cause.'],
  'gpu_memtrace.lost.events': ['{event}', 'counter', 'Dropped events.'],
  'gpu_memtrace.steps': ['{step}', 'counter', 'Completed training steps.'],
  'gpu_memtrace.running': ['{process}', 'sum', '1 while the process runs, 0 after it ended.'],
} as const satisfies Record<string, readonly [string, Metric['kind'], string]>;
type Name = keyof typeof METRICS;
/** The last value for the same attributes counts; null is left out. */
type Put = (name: Name, value: number | null, attributes: Attributes) => void;

/** The metrics of a trace at this moment; a metric of which nothing is known is left out. */
export function readMetrics(source: TraceSource, verdicts: Verdicts): Metric[] {
  const all = source.info();
  if (all.processes.length === 0) return [];
  const points = new Map<string, { name: Name; value: number; attributes: Attributes }>();
  const put: Put = (name, value, attributes) => {
    if (value !== null) points.set(JSON.stringify([name, attributes]), { name, value, attributes });
  };
  // What a process has while it is not recorded is unknown.
  const on = ({ process }: { process: number }): boolean => all.processes[process]?.recording ?? false;
  const info = { ...all, totals: all.totals.filter(on), categories: all.categories.filter(on) };
  const ledger = verdicts.ledger.filter(on);
  putProcesses(put, source, info, ledger);
  putGpus(put, info, ledger);
  putWhole(put, info, verdicts);
  const metrics = Object.entries(METRICS).map(([name, [unit, kind, description]]) => {
    const own = [...points.values()].filter(point => point.name === name);
    return { name, unit, kind, description, points: own.map(({ value, attributes }) => ({ value, attributes })) };
  });
  return metrics.filter(metric => metric.points.length > 0);
}

function putProcesses(put: Put, source: TraceSource, info: TraceInfo, ledger: readonly Ledger[]): void {
  for (const { process, device, layer, liveBytes, peakBytes } of info.totals) {
    const attributes = attributesOf(info, process, device);
    put(`gpu_memtrace.${layer}.live`, liveBytes, attributes);
    put(`gpu_memtrace.${layer}.peak`, peakBytes, attributes);
    if (device >= 0) put('gpu_memtrace.reserved', reservedNow(source, info, device, process), attributes);
  }
  for (const { process, device, category, bytes } of info.categories)
    put('gpu_memtrace.category', bytes, { ...attributesOf(info, process, device), category });
  for (const { process, device, libraries } of ledger)
    for (const { name, bytes } of joinLibraries(libraries.map(library => ({ ...library, path: library.name }))))
      put('gpu_memtrace.outside', bytes, { ...attributesOf(info, process, device), library: name });
  for (const { process, count, source: by } of info.steps)
    if (by !== 'time') put('gpu_memtrace.steps', count, attributesOf(info, process));
  for (const { index, ended } of info.processes) put('gpu_memtrace.running', ended ? 0 : 1, attributesOf(info, index));
}

/** Cards by their UUIDs: each process numbers them in its own way. */
function putGpus(put: Put, info: TraceInfo, ledger: readonly Ledger[]): void {
  for (const { process, device } of info.totals) {
    const { 'hw.id': id } = attributesOf(info, process, device);
    if (id === undefined) continue;
    const { name = '', totalBytes = 0 } = info.devices.find(({ index }) => index === device) ?? {};
    const own = ledger.find(entry => entry.process === process && entry.device === device);
    const attributes = { ...wholeAttributes(info), 'hw.id': id, 'hw.name': name, 'hw.type': 'gpu' };
    put('hw.gpu.memory.usage', own?.usedBytes ?? null, attributes);
    put('hw.gpu.memory.limit', own?.totalBytes ?? (totalBytes > 0 ? totalBytes : null), attributes);
  }
}

function putWhole(put: Put, info: TraceInfo, { findings }: Verdicts): void {
  const whole = wholeAttributes(info);
  put('gpu_memtrace.oom.count', info.outOfMemoryCount, whole);
  put('gpu_memtrace.lost.events', info.lost.events, whole);
  for (const [cause, count] of Object.entries(info.lost.byCause)) put('gpu_memtrace.lost', count, { ...whole, cause });
  const leaks = sureLeaks(findings).filter(({ bytesPerStep }) => bytesPerStep > 0);
  for (const { layer, place, library, bytesPerStep } of leaks
    .sort((a, b) => a.bytesPerStep - b.bytesPerStep)
    .slice(-MOST_LINES)) {
    const where = known({ layer, file: place?.file, line: place?.line, library });
    put('gpu_memtrace.leak.bytes_per_step', bytesPerStep, { ...whole, ...where });
  }
}

/** Of a process, and of what it has on a device. */
function attributesOf(info: TraceInfo, process: number, device = -1): Attributes {
  const own = info.processes[process];
  if (own === undefined) return {};
  const { host, run, rank, localRank, worldSize, gpus } = rankOf(own);
  return known({
    ...{ 'host.name': host, run, rank, local_rank: localRank, world_size: worldSize, 'process.pid': own.pid },
    ...{ device: device < 0 ? null : device, 'hw.id': gpus[device], simulated: own.simulated || null },
  });
}

/** Of all processes together, named by the one that was started. */
function wholeAttributes({ processes: [first], session }: TraceInfo): Attributes {
  const { host, run } = rankOf(first ?? { notes: [] });
  const started = fieldsIn(session.processes)[0]?.pid;
  const pid = typeof started === 'number' ? started : first?.pid;
  return known({ 'host.name': host, run, 'process.pid': pid, simulated: first?.simulated || null });
}

function known(all: Record<string, string | number | boolean | null | undefined>): Attributes {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => (value ?? '') !== '')) as Attributes;
}
