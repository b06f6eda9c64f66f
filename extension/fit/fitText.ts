import { t } from '@vscode/l10n';
import { columns } from '../text/textColumns';
import { formatBytes, formatCount, formatPlural } from '../text/format';
import { VARIED, type Forecast } from './forecast';
import type { Replayed } from './replay';

/** What a text says of an answer of `fit`. */
export interface FitFacts {
  trace: string;
  gpu: string;
  /** It is not the run's own. */
  anotherGpu: boolean;
  /** The size of its GPU is not known: `totalBytes` is what PyTorch had at least when memory ran out. */
  isLimit: boolean;
  /** null: not given. */
  batch: number | null;
  /** The sizes of other batches are by two runs. */
  twoRuns: boolean;
  /** The recorded batch is that of the steps before the one that failed, whose batch was larger. */
  grew: boolean;
  /** Steps with a part less than others, as with batches of several sizes: the recorded batch is that of the step with most; null: they are alike. */
  varied: { step: number; leastBytes: number; mostBytes: number } | null;
  /** Of the GPU, or of the one that was named. */
  totalBytes: number;
  /** In use outside PyTorch's cache by the run: the CUDA context, libraries. */
  outsideBytes: number;
  /** In use by others on the run's own GPU. */
  othersBytes: number;
  replay: Pick<Replayed, 'recordedPeakBytes' | 'peakBytes' | 'allocations' | 'equal' | 'failed' | 'pools'>;
  changes: readonly Forecast[];
  /** Of `changes`, the one that was requested; null: none was. */
  requested: Forecast | null;
}

/** Lines for a terminal. */
export function fitText(facts: FitFacts): string[] {
  // What was requested may be one of the usual changes.
  const rows = [
    ...new Map(facts.changes.map(change => [changeText(change, facts.batch), rowOf(change, facts)])).values(),
  ];
  const head = ['', 'PYTORCH RESERVES', 'GPU MEMORY', 'FITS', 'LARGEST BATCH'];
  return [
    facts.trace,
    gpuText(facts),
    replayText(facts.replay),
    '',
    ...columns(
      [head, ...rows],
      head.map((_, column) => column > 0),
      2,
    ),
    '',
    ...notes(facts),
  ];
}

/** The GPU, and what of it is not PyTorch's. */
export function gpuText({ gpu, totalBytes, outsideBytes, othersBytes, anotherGpu, isLimit }: FitFacts): string {
  const used = [
    ...(outsideBytes === 0
      ? []
      : [t('the CUDA context and libraries of this run take at least {0}', formatBytes(outsideBytes))]),
    ...(othersBytes === 0 ? [] : [t('other processes took {0} at the end', formatBytes(othersBytes))]),
  ];
  const bytes = formatBytes(totalBytes);
  if (isLimit)
    return t('PyTorch could use at least {0} when memory ran out. The size of the GPU was not recorded.', bytes);
  const whole = anotherGpu ? t('A GPU with {0}', bytes) : `${gpu}, ${bytes}`;
  return used.length === 0 ? `${whole}.` : `${whole}: ${used.join(t(', and '))}.`;
}

export function replayText({ allocations, equal, recordedPeakBytes, peakBytes }: FitFacts['replay']): string {
  const all = formatPlural(allocations, 'allocation');
  if (equal === allocations)
    return t('Replay check: PyTorch’s reserved memory is exactly as recorded after each of {0}.', all);
  // prettier-ignore
  return t('Replay check: PyTorch’s reserved memory is as recorded after {0}% of {1}, and its peak is {2} instead of {3}. The figures below may be off by as much.', Math.floor((equal / allocations) * 100), all, formatBytes(peakBytes), formatBytes(recordedPeakBytes));
}

/** What others leave of the GPU. */
/** Of a forecast, as a share: more is worth a word. */
const WIDE = 0.03;

const roomOf = ({ totalBytes, othersBytes }: FitFacts): number => totalBytes - othersBytes;

function rowOf(change: Forecast, facts: FitFacts): string[] {
  const { batch } = facts;
  const { reservedBytes, totalBytes, fits, largestFactor } = change;
  const yes = totalBytes > roomOf(facts) ? 'yes, cache freed' : 'yes';
  return [
    changeText(change, batch),
    formatBytes(reservedBytes),
    formatBytes(totalBytes),
    fits ? yes : 'no',
    largestText(largestFactor, batch),
  ];
}

/** The largest batch that fits, as a number where the run's is known. */
export function largestText(factor: number | null, batch: number | null): string {
  if (factor === null) return t('none');
  return batch === null ? timesText(factor) : formatCount(Math.round(factor * batch));
}

/** Rounded down: as much does fit. */
export function timesText(factor: number): string {
  const times = Math.floor(factor * 10) / 10;
  return times === 1 ? t('the recorded batch') : t('{0}× the recorded batch', times.toFixed(1));
}

/** What is changed, in words. `unchanged`: that nothing is. */
export function changeText(change: Forecast, batch: number | null, unchanged = recordedText(batch)): string {
  const { allocator, checkpoint, modules, factor, parts, stateShare, freedLine, ranks } = change;
  const all = [
    factor === 1 || batch === null ? '' : t('batch {0}', Math.round(factor * batch)),
    allocator ?? '',
    checkpoint === null ? '' : t('checkpoint {0} ({1})', checkpoint, formatPlural(modules, 'module')),
    parts === 1 ? '' : t('gradient accumulation in {0} parts', parts),
    stateShare === 1 ? '' : t('optimizer states at {0}%', Math.round(stateShare * 100)),
    change.oneByOne ? t('optimizer with foreach=False') : '',
    change.halfParameters ? t('parameters in bfloat16') : '',
    change.gradientsFreed ? t('zero_grad(set_to_none=True)') : '',
    freedLine === null ? '' : t('{0} freed every step', freedLine),
    ranks === 1 ? '' : t('FSDP over {0} ranks', ranks),
  ].filter(part => part !== '');
  return all.length === 0 ? unchanged : all.join(' + ');
}

const recordedText = (batch: number | null): string =>
  batch === null ? t('as recorded') : t('as recorded (batch {0})', batch);

/** The largest batch that fits with what was requested. */
export function bestText(facts: FitFacts): string {
  const factor = facts.requested?.largestFactor ?? null;
  const [left, total] = [roomOf(facts), facts.totalBytes].map(bytes => formatBytes(bytes));
  const room = left === total || facts.isLimit ? roomText(facts) : t('the {0} that other processes leave', left ?? '');
  if (factor === null) return t('No batch fits into {0}', room);
  return t('Largest batch that fits into {0}: {1}', room, largestText(factor, facts.batch));
}

function roomText(facts: FitFacts): string {
  const room = formatBytes(roomOf(facts));
  return facts.isLimit ? t('{0} (known limit)', room) : room;
}

/** Whether what was requested fits. */
export function answerText(facts: FitFacts): string {
  const { requested, batch, isLimit } = facts;
  const room = roomOf(facts);
  const needed = formatBytes(requested?.totalBytes ?? 0);
  const factor = requested?.factor ?? 1;
  const times = factor === 1 ? t('The recorded batch') : t('{0}× the recorded batch', factor);
  const tried = batch === null ? times : t('Batch {0}', formatCount(factor * batch));
  if (requested?.fits !== true) {
    const least = (requested?.allocatedBytes ?? 0) + facts.outsideBytes;
    const limit = isLimit
      ? t('the known limit is {0}', formatBytes(room))
      : t('only {0} is available', formatBytes(room));
    // prettier-ignore
    return least > room
      ? t('{0} does not fit: without PyTorch’s cache it needs {1}, but {2}.', tried, formatBytes(least), limit)
      : t('{0} does not fit: it needs {1} with PyTorch’s cache, whose free parts are too small, but {2}.', tried, needed, limit);
  }
  const of = roomText(facts);
  // PyTorch gives back what it does not use before it fails.
  if (requested.totalBytes > room)
    return t('{0} needs {1} with PyTorch’s cache, and fits into {2} when PyTorch frees it.', tried, needed, of);
  return t('{0} fits: its peak is {1} of {2}.', tried, needed, of);
}

/** What the memory of the GPU is made of at the peak of what was requested. */
export function peakParts({ requested, outsideBytes }: FitFacts): string {
  const { reservedBytes = 0, allocatedBytes = 0 } = requested ?? {};
  const [reserved, tensors] = [formatBytes(reservedBytes), formatBytes(allocatedBytes)];
  if (outsideBytes === 0) return t('PyTorch reserves {0}, of which tensors take up to {1}.', reserved, tensors);
  // prettier-ignore
  return t('PyTorch reserves {0}, of which tensors take up to {1}. CUDA and libraries take {2} more.', reserved, tensors, formatBytes(outsideBytes));
}

const variedTexts = (varied: FitFacts['varied']): [string, string, string] => [
  formatBytes(varied?.leastBytes ?? 0),
  formatBytes(varied?.mostBytes ?? 0),
  formatCount(varied?.step ?? 0),
];

/** How far the figures are known, and what gives better ones; `options`: those of the command line, which a page does not have. */
export function notes(
  { twoRuns, grew, varied, changes, replay, batch, requested }: FitFacts,
  options = true,
): string[] {
  const inParts = changes.some(({ parts }) => parts > 1);
  const otherStates = changes.some(({ stateShare }) => stateShare !== 1);
  const searched = changes.find(({ searchedCalls }) => searchedCalls !== null)?.searchedCalls ?? null;
  const { leastBytes = 0, mostBytes = 0, reservedBytes = 0 } = requested ?? {};
  const [least, most] = [formatBytes(leastBytes), formatBytes(mostBytes)];
  // prettier-ignore
  const all: readonly (readonly [boolean, string])[] = [
    [mostBytes - leastBytes > WIDE * reservedBytes, t('Small differences matter here: if sizes are up to {0}% smaller or larger, PyTorch reserves {1} to {2}.', 100 * VARIED, least, most)],
    [twoRuns, t('The two runs show how each allocation grows with the batch. In our tests, 72 of 80 such forecasts, made before the run was measured, were within 3% of the real peak, and 77 within 8%. Forecasts of the tensors alone are closer.')],
    [!twoRuns, t('One run does not show what grows with the batch: everything except the model, its gradients and its optimizer is assumed to grow. In our tests, 205 of 222 such forecasts were within 8% of the real peak; the worst was 23% too low, and of a graph network with varying sizes, 58% too high.')],
    [!twoRuns, t('A second run with another batch gives a closer forecast: {0}', 'gpu-memtrace fit A.gputrace B.gputrace --batch 8,16')],
    [varied !== null, t('The steps peaked at {0} to {1} of tensors. “The recorded batch” is that of step {2}, which has the highest peak.', ...variedTexts(varied))],
    [options && batch === null, `Give the batch size of ${varied === null ? 'this run' : 'that step'}, such as --batch 8, to get the largest batch size as a number.`],
    [inParts || otherStates, t('In our tests, eight forecasts of gradient accumulation were within 3% of the real peak, and six of SGD instead of Adam within 8%.')],
    [requested?.halfParameters === true, t('Activations are counted as recorded. With parameters in bfloat16 they may take less, but not more.')],
    [(requested?.ranks ?? 1) > 1, t('In our tests, six forecasts for two ranks of FSDP2 were between 2% too low and 4% too high. Memory of NCCL itself is not included.')],
    [grew, t('The step in which memory ran out had a larger batch. The recorded batch is that of the steps before it.')],
    [replay.failed > 0, t('Allocations that failed in this run are part of the forecast. Allocations after the end of the run are unknown.')],
    [searched !== null, t('The run is long, so the largest batch was computed from the {0} allocator calls around the peak.', formatCount(searched ?? 0))],
    [options, 'Before PyTorch fails, it frees its unused cache. The largest batch counts on that, and so does “yes, cache freed”.'],
    [options && requested?.fits === false, 'What you requested does not fit.'],
  ];
  return all.flatMap(([holds, text]) => (holds ? [text] : []));
}
