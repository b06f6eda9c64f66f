import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../text/format';
import { keepsArrays } from '../../text/libraryName';
import type { TraceSource } from '../../protocol/trace';
import { groupBy } from '../../base/maps';
import type { Finding, FindingPlace, OutOfMemoryVerdict } from '../../protocol/verdicts';
import type { JudgedLedger } from '../ledger/ledger';
import { type Pending, pendingWords } from '../ledger/pending';
import { poolTexts, privatePools, unusedIn } from '../ledger/pools';
import type { Growth } from '../series/growth';
import { sum } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import { riseSince } from '../sites/context';
import { placeOf } from '../sites/site';
import type { JudgedSite } from '../sites/states';
import { placeText, rateText } from '../words';
import { fragmentationAdvice, sharedPoolAdvice } from './oomAdvice';
import { countedText, type JudgedFailure } from './outOfMemory';
import { suggest } from './suggestions';
import { makeFinding } from './wording';

interface LayerContext {
  source: TraceSource;
  leaks: readonly Finding[];
  /** Processes whose steps may be a set-up. */
  setUps: readonly number[];
  /** Of all processes. */
  sites: readonly JudgedSite[];
}

// Findings that are no leak: failures, layers that grow by themselves, cycles, outliers.

/** One finding for each line and cause of failure; a leak that led to it is in it, and is no finding of its own. */
export function failureFindings(failures: readonly JudgedFailure[], source: TraceSource): Finding[] {
  const findings = new Map<string, Finding>();
  const counted = failures.length === 0 ? null : countedText(source.info());
  for (const judged of failures) {
    const finding = failureFinding(judged, source);
    if (findings.has(finding.id)) finding.evidence.push(t('It was not the first failure of this line.'));
    findings.set(finding.id, finding);
    if (counted !== null) finding.evidence.push(counted);
  }
  return [...findings.values()];
}

function failureFinding({ verdict, failure, leak }: JudgedFailure, source: TraceSource): Finding {
  const { process, device, layer, requestedBytes } = failure;
  const { cause, headline, detail, step: atStep, advice, noAdvice } = verdict;
  const gathering = cause === 'leak' ? failure.snapshot?.sites[0]?.site : undefined;
  const site = gathering ?? failure.site;
  const place = (leak === null ? placeOf(source, site) : null) ?? leak?.place ?? null;
  const own = { bytes: requestedBytes, count: 1, confidence: gathering === undefined ? 1 : 1 - T.part, sites: [site] };
  return makeFinding({
    ...(leak ?? { ...own, places: place === null ? [] : [place] }),
    ...{ verdict: 'oom', headline, detail, atStep },
    id: `oom ${process} ${cause} ${placeText(place)}`,
    ...{ cause, process, device, layer, place },
    evidence: [...aliveText(verdict), ...(leak?.evidence ?? [])],
    suggestion: advice[0]?.text ?? noAdvice ?? '',
    failure: verdict,
  });
}

function aliveText({ aliveByLine, newInStep: [odd] }: OutOfMemoryVerdict): string[] {
  const most = aliveByLine.slice(0, 3);
  const lines = most.map(one => t('{0} in {1} at {2}', formatBytes(one.bytes), formatCount(one.count), one.line));
  const alive = lines.length === 0 ? [] : [t('Alive at that moment: {0}.', lines.join('; '))];
  if (odd === undefined) return alive;
  const [bytes, usual] = [formatBytes(odd.bytes), formatBytes(odd.usualBytes)];
  return [...alive, t('In this step {0} took {1}, usually {2} a step.', odd.line, bytes, usual)];
}

/** A library that takes ever more; memory that waits for a stream; a cache that grows beyond its tensors; a process beyond what was traced. */
export function layerFindings(ledgers: readonly JudgedLedger[], context: LayerContext): Finding[] {
  const { source, leaks, setUps } = context;
  return ledgers.flatMap(judged => {
    const { reserved, process, pending } = judged;
    const graphs = reserved === null ? null : graphsOf(judged, source);
    // In a set-up everything rises; what its graphs leave unused stays.
    if (setUps.includes(judged.ledger.process)) return graphs === null ? [] : [graphsFinding(judged, graphs)];
    const findings: Finding[] = libraryFindings(judged, leaks);
    if (pending !== null) findings.push(pendingFinding(judged, pending));
    else if (reserved !== null) findings.push(cacheFinding(judged, reserved, { ...context, graphs }));
    if (process !== null) findings.push(untracedFinding(judged, process));
    return findings;
  });
}

/** A finding on a device's driver layer; `kind` sets its id apart from others of that device. */
function ofDevice({ ledger: { process, device } }: JudgedLedger, kind: string) {
  return { id: `${kind} ${process} ${device}`, process, device, layer: 'driver' as const };
}

function growthOf(growth: Growth) {
  return {
    detail: rateText(growth.perStep, growth.since),
    bytesPerStep: growth.perStep,
    sinceStep: growth.since,
  };
}

function pendingFinding(judged: JudgedLedger, pending: Pending): Finding {
  return makeFinding({
    ...ofDevice(judged, 'pending'),
    verdict: 'pending',
    ...pendingWords(pending, judged.reserved),
    bytesPerStep: pending.growth?.perStep ?? 0,
    bytes: pending.bytes,
    sinceStep: pending.sinceStep,
  });
}

/** What captured graphs keep, and what to do about it. */
interface Graphs {
  text: string;
  advice: string;
}

/** Null: most of the free memory is not theirs. */
function graphsOf({ ledger: { process, device } }: JudgedLedger, source: TraceSource): Graphs | null {
  const pools = privatePools(source.pools()).filter(one => one.process === process && one.device === device);
  const texts = poolTexts(pools.filter(({ kind }) => kind === 'graph'));
  const unused = unusedIn(pools);
  const most = unused >= T.most * source.fragmentation({ process, device }).freeBytes;
  if (texts.length === 0 || !most || unused < T.layerBytes) return null;
  return { text: texts.join('; '), advice: sharedPoolAdvice(pools) };
}

function graphsFinding(judged: JudgedLedger, { text, advice }: Graphs): Finding {
  return makeFinding({ ...ofDevice(judged, 'graphs'), verdict: 'pending', headline: text, suggestion: advice });
}

function cacheFinding(
  judged: JudgedLedger,
  growth: Growth,
  { graphs, leaks, sites, source }: LayerContext & { graphs: Graphs | null },
): Finding {
  const { process, device } = judged.ledger;
  const room = source.fragmentation({ process, device });
  const leaking = leaks.filter(one => one.layer === 'tensor' && one.process === process && one.device === device);
  const longer = leaking.filter(one => one.class === 'size').map(({ bytes, count }) => bytes / Math.max(1, count));
  // Where a gap is as long as what the cache takes anew, it is not the pieces that are too small.
  const needed = Math.max(growth.perStep * growth.gap, T.layerBytes, ...longer);
  const pending = room.largestFreeBytes >= needed;
  const beyond = { ...growth, perStep: growth.perStep - sum(leaking.map(({ bytesPerStep }) => bytesPerStep)) };
  const [all, unused, gap] = [room.segmentBytes, room.freeBytes, room.largestFreeBytes].map(formatBytes);
  const partly = formatCount(room.partlyUsedSegments);
  const place = growsAt(judged, growth.since, { sites, source });
  return makeFinding({
    ...ofDevice(judged, 'cache'),
    ...(place === null ? {} : { place, places: [place], sites: [place.site] }),
    verdict: pending ? 'pending' : 'fragmentation',
    headline: pending
      ? t('PyTorch’s cache grows although it has room')
      : leaking.length > 0
        ? t('PyTorch’s cache grows faster than the tensors in it')
        : t('PyTorch’s cache grows, the tensors in it do not'),
    ...growthOf(beyond),
    ...(place === null
      ? {}
      : { detail: t('{0}, most for {1}', rateText(beyond.perStep, growth.since), placeText(place)) }),
    bytes: room.freeBytes,
    count: room.partlyUsedSegments,
    evidence: [
      t('{0} segments hold {1}; {2} of it is unused.', formatCount(room.segments), all ?? '', unused ?? ''),
      t('{0} segments hold a live block and a gap; the longest gap is {1}.', partly, gap ?? ''),
    ],
    ruledOut: [
      ...(leaking.length > 0 ? [] : [t('No leak of tensors: their peak does not grow.')]),
      ...noPending(judged.recentPending),
    ],
    suggestion: cacheAdvice(pending, graphs),
  });
}

/** The line for whose allocations the cache took most from the driver since a step. */
function growsAt(
  { ledger }: JudgedLedger,
  since: number,
  { sites, source }: Pick<LayerContext, 'sites' | 'source'>,
): FindingPlace | null {
  const own = sites.filter(
    ({ steps }) => steps.segments && steps.process === ledger.process && steps.device === ledger.device,
  );
  const lines = groupBy(own, ({ steps }) => placeText(placeOf(source, steps.site)));
  const rises = [...lines.values()].map(same => ({
    site: same[0].steps.site,
    bytes: sum(same.map(({ steps }) => riseSince(since, steps))),
  }));
  const [most] = rises.sort((a, b) => b.bytes - a.bytes);
  return most === undefined || most.bytes <= 0 ? null : placeOf(source, most.site);
}

/** `graphs`: what captured graphs keep, if most of the free memory is theirs. */
function cacheAdvice(pending: boolean, graphs: Graphs | null): string {
  if (graphs !== null) return `${graphs.text}. ${graphs.advice}`;
  if (!pending) return fragmentationAdvice();
  return t(
    'The free memory waits for another stream or belongs to another pool (`record_stream`, CUDA graphs): wait for the side stream before the tensors are freed, or capture fewer graphs. A capture that fails keeps its pool: do not try it again, and call nothing in it that waits for the GPU, such as `.item()`.',
  );
}

function noPending(recent: number | null): string[] {
  if (recent === null) return [];
  const most = formatBytes(recent);
  return [t('No memory that waits for a stream: at most {0} at the last steps, by PyTorch’s own count.', most)];
}

/** Libraries whose driver memory grows by small parts, none of which is a leak by itself. */
function libraryFindings(judged: JudgedLedger, leaks: readonly Finding[]): Finding[] {
  const leaking = new Set(leaks.flatMap(leak => leak.sites));
  const arrays = leaks.some(({ layer, process }) => layer === 'tensor' && process === judged.ledger.process);
  return judged.growing.flatMap(({ library: { name, path, bytes, sites }, growth, confidence }) => {
    if (sites.some(site => leaking.has(site)) || (arrays && keepsArrays(name))) return [];
    const where = ofDevice(judged, 'library');
    return makeFinding({
      ...where,
      id: `${where.id} ${path}`,
      verdict: 'leak',
      class: 'driver',
      headline: t('{0} allocates more and more memory from the driver', name),
      ...growthOf(growth),
      bytes,
      confidence,
      sites,
      library: name,
      evidence: [t('It holds {0} that {1} took straight from the driver.', formatBytes(bytes), path)],
      ruledOut: [t('No leak of tensors: memory that tensors lie in is not counted here.')],
      suggestion: suggest('driver', null, { library: name }),
    });
  });
}

function untracedFinding(judged: JudgedLedger, growth: Growth): Finding {
  return makeFinding({
    ...ofDevice(judged, 'untraced'),
    verdict: 'untraced',
    headline: t('The process uses GPU memory that no traced call allocated'),
    ...growthOf(growth),
    bytes: judged.ledger.remainderBytes ?? 0,
    evidence: [t('According to the device (NVML) the process grows; the driver calls do not account for it.')],
    ruledOut: [t('No leak of tensors: memory that tensors lie in is traced.')],
    suggestion: t(
      'Look for what loads kernels or modules again in each step: repeated compilation, new contexts, or streams that are never destroyed.',
    ),
  });
}

/** Much memory that only the collector frees. */
export function cycleFindings(sites: readonly JudgedSite[], source: TraceSource): Finding[] {
  return sites.flatMap(judged => {
    if (judged.verdict.state !== 'cycle') return [];
    const bytes = Math.max(...judged.steps.oldLiveBytes);
    if (bytes < T.layerBytes) return [];
    const where = ofSite(judged, 'cycle', source);
    const line = placeText(where.place);
    return makeFinding({
      ...where,
      verdict: 'cycle',
      class: 'cycle',
      headline: t('Reference cycles at {0} keep up to {1} until the collector runs', line, formatBytes(bytes)),
      bytes,
      ruledOut: [t('No leak: the collector frees it.')],
      suggestion: suggest('cycle', null),
    });
  });
}

/** Single allocations far outside their line's habit. */
export function anomalyFindings(sites: readonly JudgedSite[], source: TraceSource): Finding[] {
  return sites.flatMap(judged => {
    const { verdict, steps } = judged;
    if (verdict.state !== 'anomaly') return [];
    const bytes = Math.max(...steps.stepLargestBytes);
    if (bytes < T.layerBytes) return [];
    const where = ofSite(judged, 'anomaly', source);
    const line = placeText(where.place);
    return makeFinding({
      ...where,
      verdict: 'anomaly',
      headline: t('One allocation of {0} at {1} is far bigger than usual for this line', formatBytes(bytes), line),
      bytes,
      count: 1,
      ruledOut: (steps.liveBytes.at(-1) ?? 0) < bytes ? [t('No leak: it did not stay.')] : [],
      suggestion: t('Look at that step’s input: one long sequence or one big batch sets the peak for the whole run.'),
    });
  });
}

function ofSite({ verdict, steps }: JudgedSite, kind: string, source: TraceSource) {
  const { process, layer, site, because } = verdict;
  const place = placeOf(source, site);
  const places = place === null ? [] : [place];
  const id = `${kind} ${process} ${placeText(place)}`;
  return { id, process, device: steps.device, layer, place, places, sites: [site], evidence: [because] };
}
