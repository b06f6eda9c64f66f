import { formatBytes, formatCount } from '../../protocol/format';
import type { TraceSource } from '../../protocol/trace';
import type { Finding, FindingPlace, SiteVerdict } from '../../protocol/verdicts';
import type { LineText } from './findingContext';
import type { Growth } from '../series/growth';
import type { JudgedLedger } from '../ledger/ledger';
import { countedText, type JudgedFailure } from './outOfMemory';
import { pendingFinding } from '../ledger/pending';
import { namedFrame } from '../sites/site';
import type { SiteSteps } from '../series/siteSeries';
import { suggest } from './suggestions';
import { THRESHOLDS as T } from '../series/thresholds';
import { placeText } from './wording';

// Findings that are no leak: failures, layers that grow by themselves, cycles, outliers.

interface JudgedSite {
  verdict: SiteVerdict;
  steps: SiteSteps;
}

const EMPTY: Omit<Finding, 'id' | 'verdict' | 'title' | 'process' | 'suggestion'> = {
  class: null,
  cause: null,
  device: -1,
  layer: 'tensor',
  bytesPerStep: 0,
  bytes: 0,
  count: 0,
  blocksPerStep: 0,
  sinceStep: null,
  period: null,
  fullAtStep: null,
  confidence: 1,
  place: null,
  places: [],
  sites: [],
  holder: null,
  library: null,
  evidence: [],
  ruledOut: [],
};

/** One finding for each line and cause of failure; a leak that led to it is in it, and is no finding of its own. */
export function failureFindings(
  failures: readonly JudgedFailure[],
  source: TraceSource,
  lineText: LineText,
): Finding[] {
  const findings = new Map<string, Finding>();
  const counted = failures.length === 0 ? null : countedText(source.info());
  for (const judged of failures) {
    const finding = failureFinding(judged, source, lineText);
    const before = findings.get(finding.id);
    findings.set(finding.id, finding);
    if (before !== undefined) finding.evidence.push('It was not the first failure of this line.');
    if (counted !== null) finding.evidence.push(counted);
  }
  return [...findings.values()];
}

function failureFinding({ verdict, failure, leak }: JudgedFailure, source: TraceSource, lineText: LineText): Finding {
  const gathering = verdict.cause === 'leak' ? failure.snapshot?.sites[0]?.site : undefined;
  const place = placeOf(source, leak === null ? (gathering ?? failure.site) : -1) ?? leak?.place ?? null;
  const base = leak ?? { ...EMPTY, places: place === null ? [] : [place], sites: [gathering ?? failure.site] };
  return {
    ...base,
    id: `oom ${failure.process} ${verdict.cause} ${placeText(place)}`,
    verdict: 'oom',
    cause: verdict.cause,
    title: verdict.title,
    process: failure.process,
    device: failure.device,
    layer: failure.layer,
    bytes: leak?.bytes ?? failure.requestedBytes,
    count: leak?.count ?? 1,
    confidence: leak?.confidence ?? (gathering === undefined ? 1 : 0.6),
    place,
    evidence: [...aliveText(verdict), ...(leak?.evidence ?? [])],
    suggestion: leak?.suggestion ?? failureAdvice(verdict.cause, place, lineText),
  };
}

function aliveText(verdict: JudgedFailure['verdict']): string[] {
  const lines = verdict.aliveByLine.slice(0, 3);
  const alive = lines.map(({ line, bytes, count }) => `${formatBytes(bytes)} in ${formatCount(count)} at ${line}`);
  const evidence = alive.length > 0 ? [`Alive at that moment: ${alive.join('; ')}.`] : [];
  const [odd] = verdict.newInStep;
  if (odd !== undefined) {
    evidence.push(
      `In this step ${odd.line} took ${formatBytes(odd.bytes)}, usually ${formatBytes(odd.usualBytes)} a step.`,
    );
  }
  return evidence;
}

function failureAdvice(cause: Finding['cause'], place: FindingPlace | null, lineText: LineText): string {
  switch (cause) {
    case 'leak':
      return suggest('outputs', place === null ? [] : [lineText(place.file, place.line) ?? ''], null);
    case 'fragmentation':
      return 'Let segments grow instead of being cut up: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, or use fewer different sizes.';
    case 'big-request':
      return 'Make this one allocation smaller: a smaller batch, shorter inputs, or the work in parts.';
    case 'other-process':
      return 'Other processes use this GPU: end them, or choose another (`CUDA_VISIBLE_DEVICES`).';
    case 'full':
    case null:
      return 'The step needs more than there is: a smaller batch, checkpointed activations, or lower precision.';
  }
}

/** A library that takes ever more; memory that waits for a stream; a cache that grows beyond its tensors; a process beyond what was traced. */
export function layerFindings(
  ledgers: readonly JudgedLedger[],
  source: TraceSource,
  leaks: readonly Finding[],
): Finding[] {
  return ledgers.flatMap(judged => {
    const { reserved, process, pending, ledger } = judged;
    const findings: Finding[] = libraryFindings(judged, leaks);
    if (pending !== null)
      findings.push({ ...EMPTY, ...ofDevice(judged), ...pendingFinding(pending, ledger, reserved) });
    else if (reserved !== null) findings.push(cacheFinding(judged, reserved, source));
    if (process !== null) findings.push(untracedFinding(judged, process));
    return findings;
  });
}

function ofDevice({ ledger, pending }: JudgedLedger): Pick<Finding, 'process' | 'device' | 'layer' | 'sinceStep'> {
  const { process, device } = ledger;
  return { process, device, layer: 'driver', sinceStep: pending?.sinceStep ?? null };
}

function cacheFinding(judged: JudgedLedger, growth: Growth, source: TraceSource): Finding {
  const { ledger, recentPending } = judged;
  const room = source.fragmentation({ process: ledger.process, device: ledger.device });
  // Where a gap is as long as what the cache takes anew, it is not the pieces that are too small.
  const pending = room.largestFreeBytes >= growth.perStep * growth.gap && room.largestFreeBytes >= T.layerBytes;
  const rate = `${formatBytes(growth.perStep)} a step since step ${formatCount(growth.since)}`;
  return {
    ...EMPTY,
    id: `cache ${ledger.process} ${ledger.device}`,
    verdict: pending ? 'pending' : 'fragmentation',
    title: pending
      ? `PyTorch’s cache grows although it has room: ${rate}`
      : `PyTorch’s cache grows, the tensors in it do not: ${rate}`,
    process: ledger.process,
    device: ledger.device,
    layer: 'driver',
    bytesPerStep: growth.perStep,
    bytes: room.freeBytes,
    count: room.partlyUsedSegments,
    sinceStep: growth.since,
    evidence: [
      `${formatCount(room.segments)} segments hold ${formatBytes(room.segmentBytes)}; ${formatBytes(room.freeBytes)} of it is unused.`,
      `${formatCount(room.partlyUsedSegments)} segments hold a live block and a gap; the longest gap is ${formatBytes(room.largestFreeBytes)}.`,
    ],
    ruledOut: ['No leak of tensors: their peak does not grow.', ...noPending(recentPending)],
    suggestion: pending
      ? 'The free memory waits for another stream or belongs to another pool (`record_stream`, CUDA graphs): wait for the side stream before the tensors go, or capture fewer graphs.'
      : 'Let segments grow instead of being cut up: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, or use fewer different sizes.',
  };
}

function noPending(recent: number | null): string[] {
  if (recent === null) return [];
  return [
    `No memory that waits for a stream: at most ${formatBytes(recent)} at the last steps, by PyTorch’s own count.`,
  ];
}

/** Libraries whose driver memory grows by small parts, none of which is a leak by itself. */
function libraryFindings({ ledger, growing }: JudgedLedger, leaks: readonly Finding[]): Finding[] {
  const told = new Set(leaks.flatMap(leak => leak.sites));
  return growing.flatMap(({ library, growth, confidence }) => {
    if (library.sites.some(site => told.has(site))) return [];
    const rate = `${formatBytes(growth.perStep)} a step since step ${formatCount(growth.since)}`;
    return {
      ...EMPTY,
      id: `library ${ledger.process} ${ledger.device} ${library.path}`,
      verdict: 'leak' as const,
      class: 'driver' as const,
      title: `${library.name} takes ever more memory from the driver: ${rate}`,
      process: ledger.process,
      device: ledger.device,
      layer: 'driver' as const,
      bytesPerStep: growth.perStep,
      bytes: library.bytes,
      sinceStep: growth.since,
      confidence,
      sites: library.sites,
      library: library.name,
      evidence: [`It holds ${formatBytes(library.bytes)} outside PyTorch’s cache, taken by calls of ${library.path}.`],
      ruledOut: ['No leak of tensors: what PyTorch’s cache takes is not counted here.'],
      suggestion: suggest('driver', [], null),
    };
  });
}

function untracedFinding({ ledger }: JudgedLedger, growth: Growth): Finding {
  const rate = `${formatBytes(growth.perStep)} a step since step ${formatCount(growth.since)}`;
  return {
    ...EMPTY,
    id: `untraced ${ledger.process} ${ledger.device}`,
    verdict: 'untraced',
    title: `The process takes GPU memory that no traced call took: ${rate}`,
    process: ledger.process,
    device: ledger.device,
    layer: 'driver',
    bytesPerStep: growth.perStep,
    bytes: ledger.remainderBytes ?? 0,
    sinceStep: growth.since,
    evidence: ['By the device’s own account (NVML) the process grows; the driver’s calls do not account for it.'],
    ruledOut: ['No leak of tensors, and none of PyTorch’s cache.'],
    suggestion:
      'Look for what loads kernels or modules anew in each step: repeated compilation, new contexts, or streams that are never destroyed.',
  };
}

/** Much memory that only the collector frees. */
export function cycleFindings(sites: readonly JudgedSite[], source: TraceSource): Finding[] {
  const cycles = sites.filter(({ verdict }) => verdict.state === 'cycle');
  return cycles.flatMap(({ verdict, steps }) => {
    const most = Math.max(...steps.oldBytes);
    const place = placeOf(source, verdict.site);
    if (most < T.layerBytes) return [];
    return {
      ...EMPTY,
      ...at(verdict, steps, place),
      id: `cycle ${verdict.process} ${placeText(place)}`,
      verdict: 'cycle' as const,
      class: 'cycle' as const,
      title: `Reference cycles at ${placeText(place)} keep up to ${formatBytes(most)} until the collector runs`,
      bytes: most,
      evidence: [verdict.because],
      ruledOut: ['No leak: the collector frees it.'],
      suggestion: suggest('cycle', [], null),
    };
  });
}

/** Single allocations far outside their line's habit. */
export function anomalyFindings(sites: readonly JudgedSite[], source: TraceSource): Finding[] {
  return sites
    .filter(({ verdict, steps }) => verdict.state === 'anomaly' && Math.max(...steps.largestBytes) >= T.layerBytes)
    .map(({ verdict, steps }) => {
      const place = placeOf(source, verdict.site);
      const most = Math.max(...steps.largestBytes);
      return {
        ...EMPTY,
        ...at(verdict, steps, place),
        id: `anomaly ${verdict.process} ${placeText(place)}`,
        verdict: 'anomaly' as const,
        title: `One allocation of ${formatBytes(most)} at ${placeText(place)} is far outside the line’s habit`,
        bytes: most,
        count: 1,
        evidence: [verdict.because],
        ruledOut: (steps.liveBytes.at(-1) ?? 0) < most ? ['No leak: it did not stay.'] : [],
        suggestion: 'Look at that step’s input: one long sequence or one big batch sets the peak for the whole run.',
      };
    });
}

function at(
  verdict: SiteVerdict,
  steps: SiteSteps,
  place: FindingPlace | null,
): Partial<Finding> & { process: number } {
  return {
    process: verdict.process,
    device: steps.device,
    layer: verdict.layer,
    place,
    places: place === null ? [] : [place],
    sites: [verdict.site],
  };
}

function placeOf(source: TraceSource, site: number): FindingPlace | null {
  const frame = site < 0 ? null : namedFrame(source.site(site));
  return frame === null ? null : { site, ...frame, bytesPerStep: 0 };
}
