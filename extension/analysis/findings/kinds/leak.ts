import { t } from '@vscode/l10n';
import { hidesGraphs, isSnapshot } from '../../../protocol/notes';
import { groupBy } from '../../../base/maps';
import { keepsArrays, libraryName, passesOn, ownsItsMemory } from '../../../text/libraryName';
import { isOfBackward, type TraceInfo, type TraceSource } from '../../../protocol/trace';
import type { Finding, FindingHolder, FindingPlace, LeakClass } from '../../../protocol/verdicts';
import { inItsLoop } from './inItsLoop';
import { doubtOf } from './certainty';
import { clusterByCause, growthOf, type GrowingSite } from '../../sites/cluster';
import { evidenceOf, ruledOutOf } from './evidence';
import type { FailedContext, FindingContext, LineText } from './findingContext';
import { holderOf, holderKinds, NO_OWNER, hasNoHolder } from './holderAnswers';
import { namedFrame } from '../../sites/site';
import { isPinnedCache, unusedPinned } from './pinnedCache';
import type { JudgedSite } from '../../sites/states';
import { at, median, sum } from '../../series/statistics';
import { suggest } from './suggestions';
import { failureOf } from './outOfMemory';
import { atEnd, atFailure } from './retained';
import { roomLeft } from './roomLeft';
import { fewestRecords } from '../../series/records';
import { THRESHOLDS as T } from '../../series/thresholds';
import { leakWords, makeFinding } from './wording';

/** One finding for each cause of growth, the fastest first. */
export function findLeaks(growing: readonly JudgedSite[], context: FindingContext): Finding[] {
  const sites = growing.map(({ verdict, steps }): GrowingSite => {
    const site = context.source.site(verdict.site);
    const frame = namedFrame(site);
    const grown = atEnd({ verdict, steps }, context.source).count;
    const holder = holderOf(context.answers, verdict.process, [verdict.site], T.most, T.few, grown);
    const library = libraryName(site?.library ?? '');
    return {
      verdict,
      steps,
      line: frame === null ? (site?.library ?? '') : `${frame.file}:${frame.line}`,
      holder: holder !== null ? holderKey(holder) : ownsItsMemory(library) ? library : null,
      owner: holder === null ? null : ownerKey(holder),
    };
  });
  const clusters = clusterByCause(dropBackingDriverMemory(sites, context.source));
  return clusters.map(cluster => leakOf(cluster, context)).sort((a, b) => b.bytesPerStep - a.bytesPerStep);
}

/** What one line put there is one cause, wherever it lies below it (a traceback has many frames); so is what one kind of cycle has. */
function holderKey({ path, kind, file, line }: FindingHolder): string {
  if (file !== null && line !== null) return `${file}:${line}`;
  return kind === 'cycle' ? path.replace(/: \.\w+( \(its graph\))?$/, '') : path;
}

/** The object before the last attribute of a path, for a function that keeps something in several of them; null: no object has it. */
function ownerKey({ path, file, function: name }: FindingHolder): string | null {
  const owner = /^(.*[^.)])\.\w+\[\.\.\.\]/.exec(path)?.[1];
  return owner === undefined || owner.startsWith('<') || !owner.includes('.') ? null : `${file} ${name} ${owner}`;
}

/** Driver memory taken for the tensor itself (no cache between them), or at any line for a pool of arrays, is the tensors' growth. */
function dropBackingDriverMemory(sites: readonly GrowingSite[], source: TraceSource): GrowingSite[] {
  const tensors = sites.filter(site => site.verdict.layer === 'tensor');
  const lines = new Set(tensors.map(keyOf));
  return sites.filter(site => {
    const { layer, process } = site.verdict;
    const pool = keepsArrays(libraryOf([site], source)) && tensors.some(({ verdict }) => verdict.process === process);
    return layer !== 'driver' || !(pool || lines.has(keyOf(site)));
  });
}

function keyOf(site: GrowingSite): string {
  return `${site.verdict.process} ${site.line}`;
}

function leakOf(all: GrowingSite[], context: FindingContext): Finding {
  const [first] = all;
  if (first === undefined) throw new RangeError('A cluster has at least one site.');
  const { process, layer } = first.verdict;
  const cluster = all.filter(site => site.verdict.layer === layer);
  const ids = all.map(site => site.verdict.site);
  const places = placesOf(cluster, context.source);
  const holder =
    holderOf(context.answers, process, ids, 0, 1, sum(cluster.map(site => atEnd(site, context.source).count))) ??
    gradientCycle(context, process, ids, places) ??
    ownerless(context, process, ids) ??
    unusedPinned(context, all);
  const place = places[0] ?? null;
  const lines = linesOf(holder, place, context.lineText);
  const kinds = holderKinds(context.answers, process, ids);
  const device = deviceOf(cluster);
  const failed = failureOf(context.source, { process, device, layer })?.snapshot ?? null;
  const facts = factsOf(cluster, byText(classOf(cluster, holder, kinds), lines), place, { ...context, failed });
  const info = context.source.info();
  const torch = holder !== null || cluster.some(site => runsTorch(site, context.source));
  const unnamed = torch ? null : whyUnnamed(info, process);
  const trains = info.steps.some(steps => steps.process === process && steps.source === 'optimizer');
  const grown = {
    holder,
    rises: Math.max(...cluster.map(site => site.verdict.rises)),
    freed: cluster.some(site => freedSince(site)),
    bytes: facts.bytes,
    deviceBytes: info.devices.find(({ index }) => index === device)?.totalBytes || null,
    ended: info.processes[process]?.ended ?? true,
    nameable: unnamed === null,
    guessed: context.axis.source === 'periodic',
    snapshot: isSnapshot(info.processes[process]),
    settingUp: info.steps.some(steps => steps.process === process && !steps.sure),
    built: freesOf(info, process) < context.axis.count && leftItsLoop(context.source, process),
    models: cluster.some(site => site.verdict.models) || (trains && isStateOfFew(holder, cluster)),
    ofLibrary: ownsItsMemory(facts.library),
    ofSize: facts.class === 'size',
    ofGraph: facts.class === 'graph',
    pinnedCache: all.every(({ verdict }) => isPinnedCache(verdict, context.source)),
  };
  const doubt = doubtOf(grown);
  const finding = makeFinding({
    id: `leak ${process} ${layer} ${place?.file ?? facts.library}:${place?.line}`,
    verdict: doubt === null ? 'leak' : grown.ended ? 'rose' : 'rising',
    ...leakWords({ ...facts, lines: places.length, holder }),
    process,
    device,
    ...facts,
    confidence: Math.max(...cluster.map(site => site.verdict.confidence)),
    places,
    sites: [...new Set([...places.map(entry => entry.site), ...ids])],
    holder,
    unnamed: unnamed ?? (holder === null ? unfoundText(context, process, grown.ended) : null),
    suggestion:
      doubt ??
      (holder?.kind === 'none'
        ? ownerlessAdvice()
        : suggest(facts.class, holder, {
            lines,
            period: facts.period,
            library: facts.library,
            torch: unnamed === null,
            trains,
          })),
  });
  if (doubt !== null && finding.holder !== null) finding.holder = { ...finding.holder, fix: undefined };
  finding.fullInSteps = stepsUntilFull(finding, context);
  if (finding.fullInSteps !== null) finding.fullAtStep = context.axis.count + finding.fullInSteps;
  const pace = secondsPerStep(context.axis);
  if (finding.fullInSteps !== null && pace !== null) finding.fullInSeconds = finding.fullInSteps * pace;
  if (finding.verdict === 'leak' && (finding.fullInSeconds ?? 0) > T.neverSeconds) finding.verdict = 'slow';
  finding.evidence = evidenceOf(finding, cluster, growthOf(all) - growthOf(cluster), { ...context, failed });
  finding.ruledOut = ruledOutOf(finding, cluster, context);
  return finding;
}

/** What an optimizer keeps for each parameter, of so few that they may be layers which are trained one after the other. */
function isStateOfFew(holder: FindingHolder | null, cluster: readonly GrowingSite[]): boolean {
  const rises = Math.max(...cluster.map(site => site.verdict.rises));
  return rises < T.few * fewestRecords() && /\.state\[\.\.\.\]\['/.test(holder?.path ?? '');
}

/** Memory ran out in a line behind the loop. */
function leftItsLoop(source: TraceSource, process: number): boolean {
  return source
    .info()
    .outOfMemory.some(one => one.process === process && one.layer === 'tensor' && !inItsLoop(one, source));
}

function freesOf({ totals }: TraceInfo, process: number): number {
  return sum(totals.map(total => (total.process === process && total.layer === 'tensor' ? total.frees : 0)));
}

function ownerlessAdvice(): string {
  return t(
    'No Python object holds it. Check C++ extensions, CUDA graphs and their pools, and processes that received these tensors (torch.multiprocessing keeps them until the other process releases them; then call `torch.cuda.ipc_collect()`).',
  );
}

/**
 * A gradient that was made with its own graph, which has the gradient: no Python object is on that cycle, so no collector frees it.
 * Source: the warning of `torch.Tensor.backward` about `create_graph`.
 */
function gradientCycle(
  { answers, lineText }: FindingContext,
  process: number,
  sites: readonly number[],
  places: readonly FindingPlace[],
): FindingHolder | null {
  const kinds = holderKinds(answers, process, sites);
  if (kinds.length === 0 && !hasNoHolder(answers, process, sites)) return null;
  const place = places.find(({ file, line }) =>
    /\bbackward\(.*create_graph\s*=\s*True/.test(lineText(file, line) ?? ''),
  );
  if (place === undefined) return null;
  const { file, line, function: name } = place;
  const path = t('a C++ reference cycle of gradients and their graphs');
  return { path, kind: 'autograd', file, line, function: name, length: null, bound: null, limit: 'none' };
}

/** What lives to the end though Python has none of it. */
function ownerless({ answers, source }: FindingContext, process: number, sites: readonly number[]) {
  if (!hasNoHolder(answers, process, sites) || hidesGraphs(source.info().processes[process])) return null;
  const alive = (site: number): number =>
    source.allocations({ layer: 'tensor', process, site, sort: 'bytes', descending: true, from: 0, to: 0 }).total;
  return sum(sites.map(alive)) >= T.few ? NO_OWNER : null;
}

function factsOf(cluster: GrowingSite[], kind: LeakClass, place: FindingPlace | null, context: FailedContext) {
  const sinceStep = Math.min(...cluster.map(site => site.verdict.sinceStep ?? Infinity));
  const kept = cluster.map(site => atEnd(site, context.source));
  const [atStep, failed] = [sum(kept.map(each => each.count)), context.failed];
  const blocksPerStep = atStep / Math.max(1, context.axis.count - sinceStep + 1);
  // Steps of the far past are merged, so rounds that kept nothing show in the number of blocks alone.
  const apart = kind === 'size' || blocksPerStep === 0 ? 1 : 1 / blocksPerStep;
  return {
    class: kind,
    layer: cluster[0]?.verdict.layer ?? 'tensor',
    bytesPerStep: growthOf(cluster),
    ...(failed === null ? { count: atStep, bytes: sum(kept.map(each => each.bytes)) } : atFailure(cluster, failed)),
    bytesAtStep: failed === null && context.axis.source !== 'time' ? context.axis.count : null,
    blocksPerStep,
    period: Math.max(apart, median(cluster.map(site => site.verdict.period ?? 1))),
    sinceStep,
    place,
    library: libraryOf(cluster, context.source),
  };
}

/** The one library that called the driver for all of it. */
function libraryOf(cluster: readonly GrowingSite[], source: TraceSource): string | null {
  const paths = new Set(cluster.map(({ verdict }) => source.site(verdict.site)?.library ?? ''));
  const [path = ''] = paths;
  const name = libraryName(path);
  return name === '' || paths.size > 1 || passesOn(name) ? null : name;
}

/** Why holders of memory of the process cannot be found, in a sentence: PyTorch's agent finds them, which no simulated PyTorch has. */
function whyUnnamed({ processes, categories }: TraceInfo, process: number): string | null {
  const about = processes[process];
  if (about?.driverSource === 'uprobe')
    return t('Holder unknown: the program is traced from outside. Start it with the tracer to see holders.');
  if (isSnapshot(about)) return notInSnapshot();
  if (about === undefined || about.python === null) return t('Holder unknown: the process runs no Python.');
  const named = categories.some(entry => entry.process === process && entry.category !== 'unnamed');
  if (!about.simulated || named) return null;
  return t('Holder unknown: this program does not use PyTorch.');
}

function notInSnapshot(): string {
  return t('Holder unknown: memory snapshots do not record holders. Start the program with the tracer to see them.');
}

/** Why no holder was found; null: it may still be found, or there is none. */
function unfoundText({ answers, source }: FindingContext, process: number, ended: boolean): string | null {
  const about = source.info().processes[process];
  const queried = answers.some(answer => answer.process === process && answer.when !== 'exit');
  if (hidesGraphs(about) && (queried || ended))
    return t('Holder unknown: PyTorch 2.9 and older do not show what an autograd graph keeps.');
  if (!ended || queried) return null;
  return isSnapshot(about)
    ? notInSnapshot()
    : t('Holder unknown: the program ended before the search for holders could run.');
}

/** Whether PyTorch's own Python is on the site's stack: then its agent is in the process. */
function runsTorch({ verdict }: GrowingSite, source: TraceSource): boolean {
  return (source.site(verdict.site)?.frames ?? []).some(({ file }) => /-packages\/torch\//.test(file));
}

/** Whether blocks that had outlived a step were freed while it grew, and it grew for as long again. */
function freedSince({ verdict, steps }: GrowingSite): boolean {
  const since = verdict.sinceStep ?? 0;
  const half = (since + at(steps.steps, steps.steps.length - 1)) / 2;
  return steps.oldFreedBytes.some((bytes, i) => {
    const step = at(steps.steps, i);
    return bytes > 0 && step > since + T.few && step <= half;
  });
}

function deviceOf(cluster: readonly GrowingSite[]): number {
  const devices = [...groupBy(cluster, ({ steps }) => steps.device)];
  return devices.sort((a, b) => growthOf(b[1]) - growthOf(a[1]))[0]?.[0] ?? -1;
}

/**
 * Lines that the cluster's memory stands at, most growth first; each with its biggest site. Of lines with as much, the
 * one called last comes first: what it was given is kept through it (an exception's frames, a wrapper's argument).
 */
function placesOf(cluster: readonly GrowingSite[], source: TraceSource): FindingPlace[] {
  const places = [...groupBy(cluster, ({ line }) => line).values()].flatMap(sites => {
    const [biggest] = sites.toSorted((a, b) => b.verdict.bytesPerStep - a.verdict.bytesPerStep);
    const id = biggest?.verdict.site ?? -1;
    const site = source.site(id);
    const frame = namedFrame(site);
    if (site === null || frame === null) return [];
    const depth = site.frames.length - Math.max(0, site.userFrame);
    return [{ place: { site: id, ...frame, bytesPerStep: growthOf(sites) }, depth }];
  });
  return places
    .sort((a, b) => b.place.bytesPerStep - a.place.bytesPerStep || b.depth - a.depth)
    .map(entry => entry.place);
}

/** `kinds`: of all holders of its blocks. */
function classOf(cluster: readonly GrowingSite[], holder: FindingHolder | null, kinds: readonly string[]): LeakClass {
  const [first] = cluster;
  if (first?.verdict.layer === 'host') return 'pinned';
  if (first?.verdict.layer === 'driver' && holder?.toHost === undefined) return 'driver';
  if (first?.verdict.grows === 'size') return 'size';
  const kind = holder?.kind ?? '';
  if (/cycle/.test(kind)) return 'cycle';
  if (/exception|traceback/.test(kind)) return 'exception';
  if (/hook/.test(kind)) return 'hook';
  const mostly = (test: (site: GrowingSite) => boolean): boolean =>
    growthOf(cluster.filter(test)) > T.most * growthOf(cluster);
  if (mostly(site => site.steps.category === 'gradient')) return 'gradients';
  if (mostly(site => isOfBackward(site.steps.lineSource))) return 'backward';
  const activations = mostly(site => site.steps.category === 'activation');
  // A backward pass frees what hangs on a graph: then the tensors are all that is kept.
  const ofGraph = holder?.graph === true && activations && kinds.includes('autograd');
  if (/autograd/.test(kind) || ofGraph) return 'graph';
  const eachStep = cluster.every(site => Math.round(site.verdict.period ?? 1) === 1);
  return holder === null && eachStep && activations && cluster.length >= T.few ? 'graph' : 'outputs';
}

/** A gradient, or a copy of one; not what was computed from it, such as `p.grad.norm()`. */
const GRADIENT_COPY = /\.grad\b(?!\.(?!(?:clone|detach|data|cpu|to|float|half|bfloat16|double|contiguous)\b)\w)/;

/** Copies of gradients are no gradients to the agent; their line shows what they are. */
function byText(kind: LeakClass, lines: readonly string[]): LeakClass {
  return kind === 'outputs' && lines.some(line => GRADIENT_COPY.test(line)) ? 'gradients' : kind;
}

function linesOf(holder: FindingHolder | null, place: FindingPlace | null, lineText: LineText): string[] {
  const places = [holder, place].flatMap(entry => {
    return entry !== null && entry.file !== null && entry.line !== null ? [lineText(entry.file, entry.line)] : [];
  });
  return places.filter(text => text !== null);
}

/** How long the newest steps took on average; null: there are too few. */
function secondsPerStep({ last, endNs }: FindingContext['axis']): number | null {
  const to = last.length - 1;
  const from = Math.max(
    0,
    last.findLastIndex(step => step <= at(last, to) - T.many),
  );
  const steps = to > from ? at(last, to) - at(last, from) : 0;
  return steps > 0 ? (at(endNs, to) - at(endNs, from)) / steps / 1e9 : null;
}

/** Until that room is gone. */
function stepsUntilFull(finding: Finding, context: FindingContext): number | null {
  const room = finding.bytesPerStep > 0 ? roomLeft(finding, context) : null;
  return room === null ? null : Math.max(0, Math.floor((room.freeBytes + room.unusedBytes) / finding.bytesPerStep));
}
