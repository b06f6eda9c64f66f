import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../protocol/format';
import type { MemorySnapshot, SnapshotSite } from '../../protocol/steps';
import type { OutOfMemory, TraceSource } from '../../protocol/trace';
import type { AfterSteps, Finding, OutOfMemoryAdvice, OutOfMemoryCause } from '../../protocol/verdicts';
import { groupBy } from '../groups';
import { sum } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import { namedFrame, siteText } from '../sites/site';
import type { LineText } from './findingContext';
import { suggest } from './suggestions';

// What to try after a failed allocation: only what the recorded figures support, each with the bytes that it gives by them.

/** What is known of a failure; bytes, null: not known. */
export interface Failed {
  failure: OutOfMemory;
  cause: OutOfMemoryCause;
  leak: Finding | null;
  after: AfterSteps | null;
  totalBytes: number | null;
  /** Of the device, by the driver's calls and the device's account. */
  freeBytes: number | null;
  othersBytes: number | null;
  /** null: not known. */
  step: number | null;
}

interface Idea extends OutOfMemoryAdvice {
  /** The failure that it is the first remedy for. */
  against: OutOfMemoryCause | null;
}

const MOST = 3;
/** Of a batch. */
const TENTH = 0.1;
/** In more parts than these nobody asks for memory. */
const MOST_PARTS = 16;

/** The remedy for the cause, then what gives most. */
export function adviceFor(failed: Failed, source: TraceSource, lineText: LineText): OutOfMemoryAdvice[] {
  const { failure, cause } = failed;
  const { snapshot, requestedBytes } = failure;
  const isWorth = ({ bytes, against }: Idea): boolean => {
    const alive = snapshot?.tensorBytes || failure.liveBytes;
    const matters = bytes >= Math.max(T.rare * alive, T.little * requestedBytes);
    return bytes > 0 && (matters || against === cause);
  };
  const ideas = [...grown(failed, source, lineText), ...around(failed, source)];
  if (snapshot !== null) ideas.push(...ofTheStep(failed, snapshot, source));
  const first = ({ against }: Idea): number => Number(against === cause);
  return ideas
    .filter(isWorth)
    .sort((a, b) => first(b) - first(a) || b.bytes - a.bytes)
    .slice(0, MOST)
    .map(({ against: _against, bytes, ...advice }) => ({ ...advice, bytes: Math.round(bytes) }));
}

/** Why there is none. */
export function noAdvice({ failure, totalBytes }: Failed): string {
  const { snapshot, requestedBytes } = failure;
  if (snapshot === null)
    return t('Nothing can be advised: of this failure only the size is kept, not what was alive then.');
  if (totalBytes !== null && requestedBytes > totalBytes)
    return t('Nothing that is freed helps: this one allocation is bigger than the GPU ({0}).', formatBytes(totalBytes));
  return t(
    'Nothing can be advised from what was recorded: nothing grows, no unused memory of PyTorch’s cache would have been enough, and of no memory is it known that it gets less with the batch.',
  );
}

/** What grew until nothing more fitted. */
function grown({ failure, cause, leak, after }: Failed, source: TraceSource, lineText: LineText): Idea[] {
  const { snapshot } = failure;
  const against = 'leak';
  if (leak !== null) {
    const own = new Set(leak.sites);
    const held = sum((snapshot?.sites ?? []).map(({ site, liveBytes }) => (own.has(site) ? liveBytes : 0)));
    // What it holds is told of the last step; the program may have gone on.
    return [{ against, text: leak.suggestion, bytes: held > 0 ? Math.min(held, leak.bytes) : leak.bytes }];
  }
  if (after !== null) return [{ against, text: afterAdvice(), bytes: after.bytes }];
  const [first] = snapshot?.sites ?? [];
  if (cause !== 'leak' || first === undefined) return [];
  const frame = namedFrame(source.site(first.site));
  const lines = frame === null ? [] : [lineText(frame.file, frame.line) ?? ''];
  return [{ against, text: suggest('outputs', null, { lines }), bytes: first.liveBytes - first.usualAllocatedBytes }];
}

function afterAdvice(): string {
  return t(
    'Where no gradients are needed, as in an evaluation, work under `with torch.no_grad():`, and move the tensors that are kept to the CPU (`.cpu()`).',
  );
}

export function fragmentationAdvice(): string {
  return t(
    'Let segments grow instead of being cut up: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, or use fewer different sizes.',
  );
}

/** Memory of the device that the process could have had. */
function around({ failure, cause, freeBytes, othersBytes }: Failed, source: TraceSource): Idea[] {
  const { snapshot, requestedBytes, process, device } = failure;
  const ideas: Idea[] = [];
  const { freeBytes: unused, largestFreeBytes } = snapshot?.fragmentation ?? { freeBytes: 0, largestFreeBytes: 0 };
  if (largestFreeBytes < requestedBytes)
    ideas.push({ against: 'fragmentation', text: fragmentationAdvice(), bytes: unused });
  if (cause === 'limit' && freeBytes !== null)
    ideas.push({
      against: 'limit',
      text: t('Raise the limit that `torch.cuda.set_per_process_memory_fraction` set, or leave that call out.'),
      bytes: freeBytes,
    });
  if (othersBytes !== null) {
    const { totals } = source.info();
    const ranks = totals.some(one => one.device === device && one.process !== process && one.layer === 'driver');
    const text = ranks
      ? t('Other processes of this very run use the same GPU: give each its own (`torch.cuda.set_device(local_rank)`).')
      : t(
          'Other processes hold it on this GPU (`nvidia-smi` lists them): end them, or choose another GPU (`CUDA_VISIBLE_DEVICES`).',
        );
    ideas.push({ against: 'other-process', text, bytes: othersBytes });
  }
  return cause === 'big-request'
    ? [...ideas, ...inParts(requestedBytes, Math.max(freeBytes ?? 0, largestFreeBytes))]
    : ideas;
}

/** One huge request in parts that fit; where it is not known what does, in two. */
function inParts(bytes: number, room: number): Idea[] {
  const parts = room > 0 ? Math.ceil(bytes / room) : 2;
  if (parts < 2 || parts > MOST_PARTS) return [];
  const [count, each] = [formatCount(parts), formatBytes(bytes / parts)];
  const text = t('Do the work of that line in {0} parts, one after the other: each needs {1}.', count, each);
  return [{ against: 'big-request', text, bytes: bytes - bytes / parts }];
}

/** What the running step made, and what the one before it left. */
function ofTheStep(failed: Failed, snapshot: MemorySnapshot, source: TraceSource): Idea[] {
  const { failure, freeBytes } = failed;
  const ideas: Idea[] = [];
  const scaling = batchBytes(failed, snapshot, source);
  if (scaling > 0) {
    const missing = Math.max(0, failure.requestedBytes - (freeBytes ?? 0));
    const percent = Math.ceil((100 * missing) / (scaling + failure.requestedBytes));
    const text = t(
      'A smaller batch, or shorter inputs: a tenth less gives this much. For this one allocation it takes {0} % less; what the rest of the step needs is not known.',
      formatCount(Math.max(1, percent)),
    );
    ideas.push({ against: 'full', text, bytes: TENTH * scaling });
  }
  if (snapshot.oldGradientBytes > 0 && !isLate(failure.site, source)) {
    const text = t(
      'Call `optimizer.zero_grad(set_to_none=True)` right after `optimizer.step()`: the gradients of the step before were still alive.',
    );
    ideas.push({ against: null, text, bytes: snapshot.oldGradientBytes });
  }
  return [...ideas, ...checkpointing(snapshot, source)];
}

/** Bytes that get less with the batch: what the step has made up to now, but for its gradients and what the optimizer makes. */
function batchBytes(failed: Failed, { step, sites }: MemorySnapshot, source: TraceSource): number {
  // Weights are made in the first step; where none is known, what is new tells nothing.
  if ((failed.step ?? 1) === 1) return sum(sites.map(site => site.activationBytes));
  const made = ({ oldestStep, liveBytes, grownBytes }: SnapshotSite): number =>
    oldestStep === step ? liveBytes : Math.max(0, grownBytes);
  return sum(sites.map(site => (isLate(site.site, source) ? site.activationBytes : made(site))));
}

/** In a backward pass, or in the optimizer. */
function isLate(id: number, source: TraceSource): boolean {
  const site = source.site(id);
  if (site === null) return false;
  return (
    ['forward', 'forward-near', 'backward-call'].includes(site.source) ||
    site.frames.some(({ file }) => /\/torch\/(optim|autograd)\//.test(file))
  );
}

/** The line with most activations of this step, where it makes several: of those, one at a time is enough. */
function checkpointing({ step, sites }: MemorySnapshot, source: TraceSource): Idea[] {
  const waiting = sites.filter(site => site.oldestStep === step && site.activationBytes > T.most * site.liveBytes);
  const lines = [...groupBy(waiting, ({ site }) => siteText(source.site(site)))].map(([line, own]) => ({
    line,
    bytes: sum(own.map(site => site.activationBytes)),
    count: sum(own.map(site => site.liveCount)),
  }));
  const [most] = lines.sort((a, b) => b.bytes - a.bytes);
  if (most === undefined || most.count < 2) return [];
  const text = t(
    'Checkpoint the {0} layers that run at {1} one by one (`torch.utils.checkpoint`): their activations wait for the backward pass. The step takes longer then.',
    formatCount(most.count),
    most.line,
  );
  return [{ against: null, text, bytes: most.bytes * (1 - 1 / most.count), atMost: true }];
}
