import type { RankFinding, RankLine, RankSeries, RankSummary } from '../../protocol/job';
import { rankOf } from '../../protocol/rank';
import { siteRows, type TraceInfo, type TraceSource } from '../../protocol/trace';
import { listedLayer, type Totals } from '../../protocol/trace';
import { GROWING, type Verdicts } from '../../protocol/verdicts';
import { verdictsOf } from '../findings/verdictCache';
import { rowVerdicts } from '../findings/rowVerdicts';

/** Columns of the heat map. */
const POINTS = 128;
/** Lines that are listed, the ones with the highest peaks; those that grow come in any case. */
const LINES = 60;
const FINDINGS = 20;

/** The processes of a trace that used a GPU, in their order. */
export function ranksOf(info: TraceInfo): number[] {
  return [...new Set(info.totals.filter(used).map(total => total.process))].sort((a, b) => a - b);
}

/** The device on which a process had most, with its totals; null: it used none. */
export function mainDevice(info: TraceInfo, process: number): Totals | null {
  const layer = listedLayer(info.totals.filter(total => total.process === process));
  const all = info.totals.filter(total => total.process === process && total.layer === layer && used(total));
  return all.sort((a, b) => b.peakBytes - a.peakBytes)[0] ?? null;
}

const used = ({ device, allocations }: Totals): boolean => device >= 0 && allocations > 0;

/** How often memory ran out: PyTorch calls the driver again before it gives up, which is one failure. */
function failuresOf({ outOfMemory }: TraceInfo, process: number): number {
  const all = outOfMemory.filter(failure => failure.process === process);
  return all.filter(({ layer }) => layer === 'tensor').length || all.length;
}

/**
 * What a job's folder keeps of one process; null: it used no GPU. `trace`: where its trace will lie, from that folder. `judged`: with its
 * lines and findings, which take longer.
 */
export function rankSummary(
  source: TraceSource,
  process: number,
  trace: string | null,
  judged = true,
): RankSummary | null {
  const info = source.info();
  const [facts, total] = [info.processes[process], mainDevice(info, process)];
  if (facts === undefined || total === null) return null;
  const { device, layer } = total;
  const verdicts = judged ? verdictsOf(source) : null;
  const steps = info.steps.find(one => one.process === process);
  const rank = rankOf(facts);
  const gpu = info.devices.find(({ index }) => index === device);
  return {
    version: 1,
    ...rank,
    ...{ pid: facts.pid, command: facts.command, ...gitOf(info) },
    startedMs: info.startRealtimeMs + facts.startNs / 1e6,
    durationSeconds: Math.max(0, info.durationNs - facts.startNs) / 1e9,
    ...{
      live: info.session.copy === true || (!facts.ended && info.live),
      exitCode: facts.exitCode,
      simulated: facts.simulated,
      lost: info.lost,
    },
    ...{ device, gpu: rank.gpus[device] ?? '', gpuName: gpu?.name ?? '', totalBytes: gpu?.totalBytes || null },
    ...{ layer, stepSource: steps?.source ?? 'time', steps: steps?.count ?? 0, peakBytes: total.peakBytes },
    outOfMemoryCount: failuresOf(info, process),
    series: readSeries(source, total),
    lines: verdicts === null ? [] : readLines(source, verdicts, total),
    findings: verdicts === null ? [] : readFindings(verdicts, process),
    trace,
  };
}

function gitOf({ session }: TraceInfo): { branch: string; commit: string } {
  const { branch = '', commit = '' } = (session.git ?? {}) as Record<string, unknown>;
  return { branch: String(branch), commit: String(commit) };
}

/** Of the steps that have ended; if there is none, one column has the present state. */
function readSeries(source: TraceSource, { process, device, layer, peakBytes, liveBytes }: Totals): RankSeries {
  const series = source.ledgerSeries({ process, device, points: POINTS });
  const known = (values: Float64Array): (number | null)[] =>
    Array.from(values, bytes => (Number.isNaN(bytes) ? null : bytes));
  const less = (outer: Float64Array, inner: Float64Array): (number | null)[] =>
    known(outer.map((bytes, i) => (bytes >= (inner[i] ?? NaN) ? bytes - (inner[i] ?? NaN) : NaN))); // read at other times
  if (series.last.length === 0)
    return { last: [0], peak: [peakBytes], live: [liveBytes], reserved: [null], outside: [null], foreign: [null] };
  const tensors = layer === 'tensor';
  return {
    last: Array.from(series.last),
    peak: known(tensors ? series.tensorMaxBytes : series.driverMaxBytes),
    live: known(tensors ? series.tensorBytes : series.driverBytes),
    reserved: known(series.reservedBytes),
    outside: less(series.processBytes, series.reservedBytes),
    foreign: less(series.usedBytes, series.processBytes),
  };
}

function readLines(source: TraceSource, verdicts: Verdicts, { process, device, layer }: Totals): RankLine[] {
  const order = { groupBy: 'line', sort: 'peakBytes', descending: true, includeDead: true } as const;
  const rows = siteRows(source.sites({ layer, process, device, ...order, from: 0, to: 10 * LINES }));
  const own = { ...verdicts, sites: new Map([...verdicts.sites].filter(([, site]) => site.process === process)) };
  const ids = rows.map(({ id }) => id);
  const judged = new Map(rowVerdicts(source, own, ids, 'line').map(row => [row.site, row]));
  const lines = rows.map(({ id, file, line, function: name, peakBytes, liveBytes }) => {
    const { bytesPerStep = 0, state = null } = judged.get(id) ?? {};
    return { file, line, function: name, peakBytes, liveBytes, bytesPerStep, state };
  });
  return lines.filter(({ state }, i) => i < LINES || GROWING.some(one => one === state));
}

function readFindings(verdicts: Verdicts, process: number): RankFinding[] {
  return verdicts.findings
    .flatMap(finding => {
      // A finding may be of several processes of the trace, with the numbers of one.
      const own = finding.sites.map(site => verdicts.sites.get(site)).filter(site => site?.process === process);
      if (finding.process !== process && own.length === 0) return [];
      const { place, holder, verdict, class: kind, cause, title, bytes, sinceStep, confidence, suggestion } = finding;
      const grows = own.reduce((sum, site) => sum + (site?.bytesPerStep ?? 0), 0);
      return {
        ...{ verdict, class: kind, cause, title, bytes, sinceStep, confidence, suggestion },
        bytesPerStep: finding.process === process ? finding.bytesPerStep : grows,
        ...{ file: place?.file ?? '', line: place?.line ?? 0, function: place?.function ?? '' },
        holder: holder?.path ?? null,
        change: holder?.line ? { file: holder.file ?? '', line: holder.line } : null,
      };
    })
    .slice(0, FINDINGS);
}
