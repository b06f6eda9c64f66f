import type { RankSummary } from '../../protocol/job';
import { marksOf } from '../../protocol/marks';
import type { LedgerSeries } from '../../protocol/trace';
import { LAYERS, type Layer, type TraceSource } from '../../protocol/trace';
import { SiteBook, stackText } from '../siteBook';
import { FORMAT_VERSION, type RankTable, type TableRow } from './tables';

/** Sites whose steps are written, of each layer those with most alive. */
const SITES = 200;
const POINTS = 256;
const SITES_AT_ONCE = 10_000;

type Rank = Pick<TableRow<'steps'>, 'run' | 'rank' | 'host' | 'pid'>;

/** What a job's folder has of one process in tables, but for its allocations. `steps`: as they were gathered, see `stepRows`. */
export function rankTables(
  source: TraceSource,
  process: number,
  summary: RankSummary,
  steps: Iterable<TableRow<'steps'>>,
): RankTable[] {
  const rank = rankColumns(summary);
  return [
    { name: 'runs', rows: [runRow(summary)] },
    { name: 'ranks', rows: [rankRow(summary, rank)] },
    { name: 'steps', rows: steps },
    { name: 'stacks', rows: stackRows(source, process, rank) },
    { name: 'site_steps', rows: siteStepRows(source, process, rank) },
    { name: 'events', rows: eventRows(source, process, rank) },
    { name: 'findings', rows: findingRows(summary, rank) },
  ];
}

export function rankColumns({ run, rank, host, pid }: RankSummary): Rank {
  return { run, rank, host, pid };
}

function runRow({ run, command, branch, commit, worldSize, startedMs, simulated }: RankSummary): TableRow<'runs'> {
  return {
    ...{ run, format_version: FORMAT_VERSION, command: command.join(' '), branch, commit, world_size: worldSize },
    ...{ started_at: startedMs, simulated },
  };
}

function rankRow(summary: RankSummary, rank: Rank): TableRow<'ranks'> {
  const { localRank, nodeRank, worldSize, role, mesh, device, gpu, gpuName, totalBytes, startedMs } = summary;
  const { durationSeconds, live, exitCode, steps, stepSource, layer, peakBytes, lost, simulated, trace } = summary;
  const place = (name: string): number | null => mesh[name]?.[0] ?? null;
  return {
    ...rank,
    ...{ local_rank: localRank, node_rank: nodeRank, world_size: worldSize, role },
    ...{ dp: place('dp'), tp: place('tp'), pp: place('pp'), ep: place('ep'), mesh: JSON.stringify(mesh) },
    ...{ device, gpu, gpu_name: gpuName, total_bytes: totalBytes, started_at: startedMs, seconds: durationSeconds },
    ...{ live, exit_code: exitCode, steps, step_source: stepSource, layer, peak_bytes: peakBytes },
    ...{ out_of_memory: summary.outOfMemoryCount, lost_events: lost.events, lost: JSON.stringify(lost.byCause) },
    ...{ simulated, trace },
  };
}

/** The steps of a series behind step `after`; of the far past several are one row, see `first_step`. */
export function stepRows(series: LedgerSeries, summary: RankSummary, startMs: number, after = 0): TableRow<'steps'>[] {
  const tensors = summary.layer === 'tensor';
  const [live, most] = tensors
    ? [series.tensorBytes, series.tensorMaxBytes]
    : [series.driverBytes, series.driverMaxBytes];
  const at = (values: Float64Array, i: number): number => values[i] ?? NaN;
  return Array.from(series.last, (step, i) => ({
    ...{ ...rankColumns(summary), device: series.device, first_step: Math.max(at(series.first, i), after + 1), step },
    ...{ ended_at: startMs + at(series.endNs, i) / 1e6, end_ns: at(series.endNs, i) },
    ...{ live_bytes: at(live, i), peak_bytes: at(most, i), reserved_bytes: at(series.reservedBytes, i) },
    ...{ driver_bytes: at(series.driverBytes, i), host_bytes: at(series.hostBytes, i) },
    ...{ process_bytes: at(series.processBytes, i), used_bytes: at(series.usedBytes, i) },
    ...{ total_bytes: at(series.totalBytes, i), flags: series.flags[i] ?? 0 },
  })).filter(({ step }) => step > after);
}

/** Of all stacks of the process, also those that hold nothing now. */
function* stackRows(source: TraceSource, process: number, rank: Rank): Generator<TableRow<'stacks'>> {
  const book = new SiteBook(source);
  for (const layer of LAYERS) {
    const query = { layer, process, groupBy: 'site', sort: 'liveBytes', descending: true, includeDead: true } as const;
    const { id: ids, liveBytes, peakBytes } = source.sites({ ...query, from: 0, to: SITES_AT_ONCE });
    for (const [i, id] of ids.entries()) {
      const { file, line, function: name } = book.line(id);
      const site = book.site(id);
      yield {
        ...{ ...rank, stack_id: site?.key ?? null, layer, source: site?.source ?? null, file: file || null, line },
        ...{ function: name, library: site?.library || null, frames: stackText(book.frames(id)) },
        ...{ live_bytes: liveBytes[i] ?? null, peak_bytes: peakBytes[i] ?? null },
      };
    }
  }
}

function* siteStepRows(source: TraceSource, process: number, rank: Rank): Generator<TableRow<'site_steps'>> {
  for (const layer of LAYERS) yield* stepsOf(source, process, layer, rank);
}

/** Only steps in which a site allocated, freed or had another level. */
function* stepsOf(source: TraceSource, process: number, layer: Layer, rank: Rank): Generator<TableRow<'site_steps'>> {
  const series = source.siteSeries({ process, layer, from: 0, to: SITES, points: POINTS });
  const points = series.last.length;
  for (let row = 0; row < series.rows; row++) {
    const key = source.site(series.id[row] ?? 0)?.key ?? null;
    let before = 0;
    for (let i = 0; i < points; i++) {
      const at = (values: Float64Array): number => values[row * points + i] ?? NaN;
      const live = at(series.liveBytes);
      const idle = live === before && at(series.stepAllocations) === 0 && at(series.stepFrees) === 0;
      before = live;
      if (idle) continue;
      yield {
        ...{ ...rank, device: series.device[row] ?? null, layer, stack_id: key },
        ...{ first_step: series.first[i] ?? null, step: series.last[i] ?? null },
        ...{ category: series.category[row] ?? null, live_bytes: live, live_blocks: at(series.liveCount) },
        ...{ peak_bytes: at(series.maxBytes), allocations: at(series.stepAllocations) },
        ...{ allocated_bytes: at(series.stepAllocatedBytes), frees: at(series.stepFrees) },
        freed_bytes: at(series.stepFreedBytes),
      };
    }
  }
}

/** Failed allocations, marks, pauses and what was lost, in this order. */
function* eventRows(source: TraceSource, process: number, rank: Rank): Generator<TableRow<'events'>> {
  const info = source.info();
  const row = (ns: number | null, kind: string, text: string, more: Partial<TableRow<'events'>> = {}) => ({
    ...{ ...rank, at: ns === null ? null : info.startRealtimeMs + ns / 1e6, at_ns: ns, kind, text },
    ...{ device: null, bytes: null, ...more },
  });
  for (const { process: own, timeNs, device, requestedBytes, site } of info.outOfMemory)
    if (own === process)
      yield row(timeNs, 'out of memory', stackText(source.site(site)?.frames ?? []), { device, bytes: requestedBytes });
  for (const { name, timeNs } of marksOf(info)) yield row(timeNs, 'mark', name);
  for (const { process: own, beginNs, endNs } of info.pauses)
    if (own === process) yield row(beginNs, 'pause', endNs === null ? '' : `${(endNs - beginNs) / 1e9} s`);
  for (const [cause, count] of Object.entries(info.lost.byCause)) yield row(null, 'lost', `${cause}: ${count}`);
}

function findingRows({ findings }: RankSummary, rank: Rank): TableRow<'findings'>[] {
  return findings.map(({ bytesPerStep, sinceStep, class: kind, file, line, function: name, ...finding }) => ({
    ...{ ...rank, verdict: finding.verdict, class: kind, file: file || null, line, function: name },
    ...{ bytes_per_step: bytesPerStep, bytes: finding.bytes, since_step: sinceStep, confidence: finding.confidence },
    ...{ holder: finding.holder, title: finding.title, suggestion: finding.suggestion },
  }));
}
