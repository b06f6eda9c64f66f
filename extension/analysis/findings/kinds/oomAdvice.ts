import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../text/format';
import type { MemorySnapshot, OutOfMemory, Pool, SnapshotSite, TraceSource } from '../../../protocol/trace';
import type { AfterSteps, Finding, OutOfMemoryAdvice, OutOfMemoryCause } from '../../../protocol/verdicts';
import type { OutOfMemoryLine, OutOfMemoryVerdict } from '../../../protocol/verdicts';
import { groupBy } from '../../../base/maps';
import { poolTexts, privatePools, unusedIn } from '../../ledger/pools';
import { sum } from '../../series/statistics';
import { THRESHOLDS as T } from '../../series/thresholds';
import { inSentence, namedFrame, siteText } from '../../sites/site';
import { blocksText } from '../../words';
import type { LineText } from './findingContext';
import { isBeforeBackward } from './grownBatch';
import { suggest } from './suggestions';

// What to try after a failed allocation: only what the recorded figures support, each with the bytes that it gives by them.

/** What is known of a failure; bytes (of the device, but for the request) and step, null: not known. */
export interface Failed extends Pick<
  OutOfMemoryVerdict,
  'cause' | 'step' | 'totalBytes' | 'freeBytes' | 'othersBytes' | 'missingBytes'
> {
  failure: OutOfMemory;
  leak: Finding | null;
  /** That it held then. */
  leakBytes: number;
  after: AfterSteps | null;
  /** Null: it is as usual, or that is not known. */
  batch: string | null;
  /** In words that this step allocated much more than those before, by its batch or not; null: it did not, or that is not known. */
  bigger: string | null;
  /** The device had room, and PyTorch was not allowed to take it. */
  limited: boolean;
}
/** `against`: the failure that it is the first remedy for; `seen`: what is alive shows it, not the failure alone; bytes, 0: nothing supports it. */
type Idea = OutOfMemoryAdvice & { against: OutOfMemoryCause | null; seen?: true };

const MOST = 3;
/** No program requests memory in more parts than these. */
const MOST_PARTS = 16;
/** PyTorch rounds each request up to a multiple of this. */
const ROUNDED_BYTES = 512;
/** More of one size are the layers of a model. */
const MOST_COPIES = 4;
/** Fewer may be two losses, or an encoder and a decoder. */
const FEWEST_LAYERS = 3;
/** Of series: sites, and points of their axis. */
const MOST_SITES = 100_000;
const FEWEST_POINTS = 16;

/** The remedy for the cause, what was seen first where nothing gives more, then what gives most. */
export function adviceFor(failed: Failed, source: TraceSource, lineText: LineText): OutOfMemoryAdvice[] {
  const { snapshot, requestedBytes, liveBytes } = failed.failure;
  const least = Math.max(T.rare * (snapshot?.tensorBytes || liveBytes), T.little * requestedBytes);
  // A limit is where it stopped; a step that took more than those before is why.
  const cause = failed.cause === 'limit' && failed.bigger !== null ? 'full' : failed.cause;
  const inStep = snapshot === null ? [] : ofTheStep({ ...failed, cause }, snapshot, source);
  const ideas = [grown(failed, source, lineText), ...around(failed), ...ofPools(failed), ...inStep];
  const most = Math.max(...ideas.map(({ bytes }) => bytes));
  const first = ({ against, seen, bytes }: Idea): number =>
    against === cause ? 1 + Number(seen === true && bytes >= most) : 0;
  return ideas
    .filter(idea => idea.bytes > (first(idea) > 0 ? 0 : least))
    .sort((a, b) => first(b) - first(a) || b.bytes - a.bytes)
    .slice(0, MOST)
    .map(({ against: _against, seen: _seen, bytes, ...advice }) => ({ ...advice, bytes: Math.round(bytes) }));
}

/** Why there is none. */
// prettier-ignore
export function noAdvice({ failure: { snapshot, requestedBytes }, totalBytes }: Failed): string {
  if (snapshot === null) return t('No suggestion: only the size of this failure was recorded, not the live memory at that time.');
  if (totalBytes !== null && requestedBytes > totalBytes)
    return t('This single allocation is larger than the GPU ({0}), so freeing memory does not help.', formatBytes(totalBytes));
  return t('No suggestion: no growth was found, PyTorch’s cache is too small to help, and none of the live memory is known to depend on the batch size.');
}

export const NO_SEGMENTS = { freeBytes: 0, largestFreeBytes: 0, emptyBytes: 0 };

/** What grew until nothing more fitted. */
function grown(
  { failure: { snapshot }, cause, leak, leakBytes, after }: Failed,
  source: TraceSource,
  lineText: LineText,
): Idea {
  const against = 'leak';
  if (leak !== null) return { kind: 'leak', against, text: leak.suggestion, bytes: leakBytes };
  // prettier-ignore
  const forAfter = t('If you need no gradients, for example during evaluation, use `torch.no_grad()`, and move the tensors that you store to the CPU (`.cpu()`).');
  if (after !== null) return { kind: 'gradients', against, text: forAfter, bytes: after.bytes };
  const [first] = cause === 'leak' ? (snapshot?.sites ?? []) : [];
  const frame = first === undefined ? null : namedFrame(source.site(first.site));
  const text = suggest('outputs', null, { lines: frame === null ? [] : [lineText(frame.file, frame.line) ?? ''] });
  return { kind: 'leak', against, text, bytes: first === undefined ? 0 : first.liveBytes - first.usualAllocatedBytes };
}

// prettier-ignore
export function fragmentationAdvice(): string {
  return t('Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` so that segments can grow, or use fewer different sizes.');
}

// prettier-ignore
/** `pools`: those of the device; graphs that have one pool already are not to share one. */
export function sharedPoolAdvice(pools: readonly Pool[]): string {
  const [first, ...others] = pools.filter(({ kind }) => kind === 'graph');
  if (first !== undefined && first.makers > 1 && others.length === 0)
    return t('They share one pool. Capture the largest shape first, so that the smaller ones fit into the pool.');
  return t('Share one pool between graphs that are replayed one after the other, for example `torch.cuda.graph(g, pool=first.pool())`, and capture the largest shape first: the smaller ones then fit into the pool.');
}

/** Memory of the device that the process could have had. */
function around({ failure, cause, freeBytes, othersBytes, limited }: Failed): Idea[] {
  const { snapshot, requestedBytes, layer } = failure;
  const { freeBytes: unused, largestFreeBytes: gap, emptyBytes } = snapshot?.fragmentation ?? NO_SEGMENTS;
  // prettier-ignore
  if (layer === 'host') return [
    { kind: 'pinning', against: cause, bytes: requestedBytes / 2, text: t('Pin less host memory: remove `pin_memory` if it is not needed, or pin the memory in parts, one after the other.') },
    { kind: 'prefetch', against: null, bytes: failure.liveBytes, text: t('Free pinned memory that is no longer used, or use fewer `DataLoader` workers and a smaller `prefetch_factor`.') },
  ];
  const ofCache = { kind: 'empty-cache', against: 'cache', bytes: cause === 'cache' ? emptyBytes : 0 } as const;
  const room = Math.max(freeBytes ?? 0, gap);
  const parts = room > 0 ? Math.ceil(requestedBytes / room) : 2; // what fits is unknown
  const saved = cause === 'big-request' && parts <= MOST_PARTS ? requestedBytes * (1 - 1 / parts) : 0;
  const [count, each] = [formatCount(parts), formatBytes(requestedBytes / parts)];
  // prettier-ignore
  return [
    { ...ofCache, text: t('Call `torch.cuda.empty_cache()` before the library first needs memory, or use the library once at the start.') },
    { kind: 'segments', against: 'fragmentation', bytes: cause !== 'cache' && gap < requestedBytes ? unused : 0, text: fragmentationAdvice() },
    { kind: 'limit', against: 'limit', bytes: limited ? (freeBytes ?? 0) : 0, atMost: true, text: t('Raise the limit set by `torch.cuda.set_per_process_memory_fraction`, or remove that call.') },
    { kind: 'processes', against: 'other-process', bytes: limited ? 0 : (othersBytes ?? 0), text: t('Other processes use it on this GPU (`nvidia-smi` lists them). Stop them, or choose another GPU (`CUDA_VISIBLE_DEVICES`).') },
    { kind: 'parts', against: 'big-request', bytes: saved, text: t('Split the work of that line into {0} parts, one after the other. Each part needs {1}.', count, each) },
  ];
}

/** What only captured graphs and MemPools can use. */
function ofPools({ failure: { snapshot } }: Failed): Idea[] {
  const pools = privatePools(snapshot?.pools ?? []).filter(({ makers, kind }) => makers > 0 || kind === 'private');
  const graphs = pools.filter(({ kind }) => kind === 'graph');
  // One pool for all has to be as big as the biggest.
  const shared = graphs.length > 1 ? unusedIn(graphs) - Math.max(...graphs.map(pool => unusedIn([pool]))) : 0;
  const [keep, all] = [poolTexts(graphs).join(''), poolTexts(privatePools(pools)).join('; ')];
  // prettier-ignore
  return [
    { kind: 'one-pool', against: 'pools', bytes: shared, text: `${keep}. ${sharedPoolAdvice(pools)}` },
    { kind: 'pools', against: 'pools', bytes: shared > 0 ? 0 : unusedIn(pools), text: t('{0}, and nothing else can use it. Capture fewer graphs, or delete graphs and MemPools that are no longer needed and call `torch.cuda.empty_cache()`.', all) },
  ];
}

/** What the running step made, and what the one before it left. */
function ofTheStep(failed: Failed, snapshot: MemorySnapshot, source: TraceSource): Idea[] {
  const { failure, step, cause, missingBytes, bigger } = failed;
  const inForward = isBeforeBackward(source.site(failure.site));
  const inBackward = (step ?? 1) > 1 && source.site(failure.site)?.pass === 'backward';
  const before = linesBefore(failure, snapshot, source);
  const made = batchBytes(snapshot, step, before, source);
  // So does the request, of a forward pass that made something of its batch; in the first step it may be a weight.
  const least = before.has(siteText(source.site(failure.site))) ? 0 : T.part * snapshot.tensorBytes;
  const follows = inForward && (step ?? 1) > 1 && made > least && failure.layer === 'tensor';
  const scaling = made + (follows ? failure.requestedBytes : inBackward ? backwardBytes(failure, snapshot, source) : 0);
  const waiting = snapshot.sites.filter(
    site => site.oldestStep === snapshot.step && site.activationBytes === site.liveBytes,
  );
  // What is made by one line again and again is that of equal layers: of one at a time it is enough.
  const layers = byLine(waiting, source).filter(({ count }) => count >= FEWEST_LAYERS);
  const inside = sum(layers.map(({ bytes, count }) => bytes * (1 - 1 / count)));
  const left = inForward && step !== null ? oldGradients(snapshot, source) : 0;
  // So many tenths give what is missing, where that is known.
  const tenths = Math.min(9, Math.max(1, Math.ceil((10 * (missingBytes ?? 0)) / Math.max(1, scaling))));
  const less = (scaling * tenths) / 10;
  const isOpen = inForward || inBackward || bigger !== null;
  // prettier-ignore
  return [
    { kind: 'batch', against: 'full', bytes: less, ...(isOpen && { atLeast: true }), ...lessText(failed, inForward, String(10 * tenths)) },
    ...((step ?? 1) > 1 ? onceMade(snapshot, before, source) : []),
    copiesIn(failure, snapshot, { against: bigger !== null ? null : cause === 'limit' ? cause : 'full', source }),
    broadcastIn(failure, snapshot, { cause, source }),
    { kind: 'zero-grad', against: left > less ? 'full' : null, bytes: left, text: t('Call `optimizer.zero_grad(set_to_none=True)` right after `optimizer.step()`: the gradients of the previous step were still alive.') },
    { kind: 'checkpointing', against: null, bytes: inside, atMost: true, text: t('Use activation checkpointing for parts of the model, such as the blocks of a transformer or sections of an `nn.Sequential` (`torch.utils.checkpoint`, `checkpoint_sequential`). Activations inside a part are then recomputed in the backward pass instead of stored; only the inputs of each part are kept. Each step takes longer.') },
  ];
}

/** What of it fits is known where nothing more is to come; else a forecast shows it, and what is missing is the least that it frees. */
// prettier-ignore
function lessText({ batch, bigger, step }: Failed, inForward: boolean, percent: string): Pick<Idea, 'text' | 'forecast'> {
  if (!inForward && bigger === null) return { text: t('Make the batch or the inputs {0}% smaller.', percent) };
  if ((step ?? 1) <= T.few) return { text: t('Make the batch or the inputs smaller, by at least {0}%: the rest of the step needs memory too.', percent) };
  const text = batch === null ? t('Make the batch or the inputs smaller.') : t('Make this batch smaller; the earlier ones fitted.');
  return { text, forecast: true };
}

/** What the line with most of the memory allocated for the first time, such as a table behind the loop: no batch makes it smaller. */
function onceMade({ sites, tensorBytes }: MemorySnapshot, before: ReadonlySet<string>, source: TraceSource): Idea[] {
  const [most] = byLine(sites, source);
  const own = sites.filter(({ site }) => siteText(source.site(site)) === most?.line);
  const isOfBatch = own.some(one => one.activationBytes > 0 || !isBeforeBackward(source.site(one.site)));
  if (most === undefined || most.bytes < T.part * tensorBytes || before.has(most.line) || isOfBatch) return [];
  const [size, blocks] = [formatBytes(most.bytes), blocksText(most.count)];
  // prettier-ignore
  const text = t('Free what {0} allocated ({1} in {2}), or allocate less there. No earlier step allocated memory on that line.', inSentence(most.line), size, blocks);
  return [{ kind: 'once', against: 'full', seen: true, bytes: most.bytes, text }];
}

/** Lines that allocated in a step before the one that runs. */
function linesBefore(
  { process, layer }: OutOfMemory,
  { step, sites }: MemorySnapshot,
  source: TraceSource,
): Set<string> {
  const ran = stepsBefore({ process, layer, step }, 'stepAllocations', source).filter(one => one.values.some(Boolean));
  const known = sites.filter(one => one.oldestStep < step || one.usualAllocatedBytes > 0);
  return new Set([...ran, ...known].map(({ site }) => siteText(source.site(site))));
}

/** Of each site of a layer, a figure of the steps before `step`. */
function stepsBefore(
  { process, layer, step }: Pick<OutOfMemory, 'process' | 'layer'> & Pick<MemorySnapshot, 'step'>,
  figure: 'stepAllocations' | 'stepLargestBytes',
  source: TraceSource,
): { site: number; values: Float64Array }[] {
  const query = { process, layer, from: 0, to: MOST_SITES, points: FEWEST_POINTS };
  const { rows, id, last, [figure]: figures } = source.siteSeries(query);
  const before = last.filter(end => end < step).length;
  return Array.from({ length: rows }, (_, row) => {
    const from = row * last.length;
    return { site: id[row] ?? 0, values: figures.subarray(from, from + before) };
  });
}

/** One tensor in float32 and in 16 bits: a few blocks of this step, from several call sites, of the requested size, half or twice that. */
function copiesIn(
  { requestedBytes }: OutOfMemory,
  { step, sites }: MemorySnapshot,
  { against, source }: { against: OutOfMemoryCause | null; source: TraceSource },
): Idea {
  const same = sites.filter(({ oldestStep, liveBytes, liveCount }) =>
    [0.5, 1, 2].some(
      times => oldestStep === step && Math.abs(liveBytes / liveCount / requestedBytes / times - 1) < T.rare,
    ),
  );
  const [count, bytes] = [sum(same.map(({ liveCount }) => liveCount)), sum(same.map(({ liveBytes }) => liveBytes))];
  const lines = byLine(same, source).map(({ line }) => inSentence(line));
  const [alive, requested] = [formatBytes(bytes), formatBytes(requestedBytes)];
  // prettier-ignore
  const text = t('If {0} live tensors are copies of one tensor, process it in parts, for example the loss of a few thousand tokens at a time, or use an operation that makes no copies, such as a fused linear cross entropy. Together they take {1}; they were allocated at {2}. Each is as large as the request ({3}), half as large, or twice as large.', formatCount(count), alive, lines.join(t(', and at ')), requested);
  return {
    kind: 'copies',
    against,
    seen: true,
    bytes: same.length > 1 && count <= MOST_COPIES ? bytes + requestedBytes : 0,
    atMost: true,
    text,
  };
}

/**
 * Exactly as many elements as a tensor that is alive at a line of the program has, squared: (n, 1) against (n,). A size that was there in an
 * earlier step, or whose blocks another line has, needs no such cause.
 */
function broadcastIn(
  failure: OutOfMemory,
  snapshot: MemorySnapshot,
  { cause: against, source }: { cause: OutOfMemoryCause; source: TraceSource },
): Idea {
  const { requestedBytes, site } = failure;
  const has = ({ liveBytes, liveCount }: SnapshotSite, bytes: number): boolean => liveBytes === liveCount * bytes;
  const found = [4, 2, 8].flatMap(bytes => {
    const elements = Math.round(Math.sqrt(requestedBytes / bytes));
    const size = Math.ceil((elements * bytes) / ROUNDED_BYTES) * ROUNDED_BYTES;
    const isSquare = elements ** 2 * bytes === requestedBytes && elements * bytes > ROUNDED_BYTES;
    const isAlive = snapshot.sites.some(one => has(one, size) && (source.site(one.site)?.userFrame ?? -1) >= 0);
    return isSquare && isAlive ? [elements] : [];
  });
  const isOld = snapshot.sites.some(
    one => one.site !== site && one.oldestStep < snapshot.step && has(one, requestedBytes),
  );
  const isProof =
    found.length > 0 && isBeforeBackward(source.site(site)) && !isOld && !wasThere(failure, snapshot, source);
  // prettier-ignore
  const text = t('The request is {0} × {0} elements, and a tensor of {0} elements is alive: shapes ({1}, 1) and ({1},) were broadcast against each other. Give both tensors the same shape, for example with `.squeeze(1)`.', formatCount(found[0] ?? 0), String(found[0] ?? 0));
  return { kind: 'shapes', against, seen: true, bytes: isProof ? requestedBytes : 0, text };
}

/** An earlier step made a block of the requested size at any line, such as a weight, or one as large at the line that failed. */
function wasThere(
  { process, site, requestedBytes }: OutOfMemory,
  { step }: MemorySnapshot,
  source: TraceSource,
): boolean {
  const line = siteText(source.site(site));
  return stepsBefore({ process, layer: 'tensor', step }, 'stepLargestBytes', source).some(one =>
    one.values.some(
      bytes => bytes === requestedBytes || (bytes > requestedBytes && siteText(source.site(one.site)) === line),
    ),
  );
}

/**
 * Bytes that get less with the batch: what the step has made up to now, but for its gradients and what the optimizer makes, and for
 * lines that were in no step before.
 */
function batchBytes(
  { step: now, sites }: MemorySnapshot,
  step: number | null,
  before: ReadonlySet<string>,
  source: TraceSource,
): number {
  const parts = sites.map(({ site, oldestStep, liveBytes, grownBytes, activationBytes }) => {
    // Weights are made in the first step; where none is known, what is new proves nothing.
    const at = source.site(site);
    if ((step ?? 1) === 1 || !isBeforeBackward(at) || !before.has(siteText(at))) return activationBytes;
    return oldestStep === now ? liveBytes : Math.max(0, grownBytes);
  });
  return sum(parts);
}

/** At least what a backward pass made and requests of its batch: the gradients of the weights are no larger than these. */
function backwardBytes(
  { requestedBytes }: OutOfMemory,
  { step: now, sites, categories }: MemorySnapshot,
  source: TraceSource,
): number {
  const weights = categories.find(({ category }) => category === 'parameter')?.bytes ?? Infinity;
  const made = sites
    .filter(({ site }) => source.site(site)?.pass === 'backward')
    .map(({ oldestStep, liveBytes, grownBytes }) => (oldestStep === now ? liveBytes : Math.max(0, grownBytes)));
  return Math.max(0, sum(made) - weights) + (requestedBytes > weights ? requestedBytes : 0);
}

/** Gradients of the step before: those with that name, or, where none were labelled since, what its backward pass made and left. */
function oldGradients({ step, sites, oldGradientBytes }: MemorySnapshot, source: TraceSource): number {
  const left = sites.filter(({ site, oldestStep, grownBytes }) => {
    return oldestStep === step - 1 && grownBytes <= 0 && source.site(site)?.pass === 'backward';
  });
  return Math.max(oldGradientBytes, sum(left.map(site => site.liveBytes)));
}

/** What is alive by line, most first. */
export function byLine(sites: readonly SnapshotSite[], source: TraceSource): OutOfMemoryLine[] {
  const lines = groupBy(sites, ({ site }) => siteText(source.site(site)));
  const rows = [...lines].map(([line, own]) => ({
    ...{ site: own[0].site, line },
    bytes: sum(own.map(({ liveBytes }) => liveBytes)),
    count: sum(own.map(({ liveCount }) => liveCount)),
  }));
  return rows.sort((a, b) => b.bytes - a.bytes);
}
