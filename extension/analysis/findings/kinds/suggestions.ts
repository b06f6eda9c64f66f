import { t } from '@vscode/l10n';
import type { FindingHolder, Fix, LeakClass } from '../../../protocol/verdicts';
import { eachStepText } from '../../words';

// What to do about a finding, in one sentence: the fix where there is one, else the first row that fits. Rows are data, so that
// one can be added without touching code. They hold no code of the user's: only a parse of it may (native/agent/fixes.py).

interface Advice {
  classes: readonly LeakClass[] | null;
  /** Must be found in the source of the holder's line or of the site's line; absent: fits any. */
  pattern?: RegExp;
  /** Must be found in the holder's kind or path. */
  holder?: RegExp;
  /** Must be found in the name of the library that took the memory. */
  library?: RegExp;
  /** What else must hold of it. */
  when?: (holder: FindingHolder) => boolean;
  /** Whether the program has steps of an optimizer; absent: either. */
  trains?: boolean;
  /**
   * `{holder}` is what the agent named, `{container}` the same without what stands for one entry of it; `{cpu}` the calls that bring a
   * tensor to the CPU, without its graph unless it has none; `{each}` is “each step”, or “every 20th step”.
   */
  text: string;
}

/** A variable of a function that an exception passed. */
const OF_TRACEBACK = /\.__traceback__ > /;
/** The same, where nothing in that function is what grows. */
const KEPT_BY_TRACEBACK = /\.__traceback__ > (?!.*(\[\.\.\.\]|\(cache\)))/;
// prettier-ignore
const KEEP_NO_EXCEPTION = t('An exception that is kept keeps, through its traceback, the variables of all functions that it passed: keep `str(error)` instead of the exception, or clear its traceback (`error.with_traceback(None)`).');

/** Advice that only tensors of PyTorch can follow. */
const OF_TORCH = /torch|x\{cpu\}|grad/;

/** Not the tuple grows, such as an LSTM's state, but the graph that hangs on it. */
const isOfTuple = ({ kind, length }: FindingHolder): boolean => kind === 'autograd' && length === null;

// prettier-ignore
export const KEEPS_RESULTS = t('IPython keeps the result of each cell: `%reset -f out` frees all but the newest two, `get_ipython().user_ns_hidden.update(_="", __="", ___="")` then those too. A cell whose last line ends with `;` leaves none.');
/** IPython keeps the newest exception that it showed; when another one takes its place, a cycle is left. */
// prettier-ignore
const KEEPS_FAILURE = t('A notebook keeps the last exception, which keeps the variables of the functions that it passed: let a cell fail in another way (`1/0`), then call `gc.collect()`.');

// prettier-ignore
const TABLE: readonly Advice[] = [
  { classes: null, holder: /^(Out\[|_+(?!\w))/, text: KEEPS_RESULTS },
  { classes: null, holder: /^the last exception/, text: KEEPS_FAILURE },
  {
    classes: ['backward', 'graph', 'outputs', 'gradients'],
    pattern: /create_graph\s*=\s*True/,
    text: t('With `create_graph=True` gradients keep their own graph: use `torch.autograd.grad`, or set the gradients to None after the step.'),
  },
  { classes: ['exception'], holder: OF_TRACEBACK, text: KEEP_NO_EXCEPTION },
  { classes: ['graph', 'outputs', 'backward', 'gradients'], holder: KEPT_BY_TRACEBACK, text: KEEP_NO_EXCEPTION },
  {
    classes: ['size'],
    pattern: /\b(cat|concat|concatenate|stack|hstack|vstack)\s*\(/,
    text: t('Collect the parts on the CPU and join them once at the end (`parts.append(x{cpu})`, then one `torch.cat(parts)`), or keep only what you need of them.'),
  },
  {
    classes: ['size'],
    text: t('A tensor grows with {each}: keep its parts on the CPU, limit its length, or start a new one with each epoch.'),
  },
  {
    classes: ['cycle'],
    text: t('Objects refer to each other in a circle, so only the collector can free their tensors: break the circle (`weakref.ref`, or delete one of the references), or call `gc.collect()` now and then.'),
  },
  {
    classes: ['exception'],
    text: t('A stored exception keeps all frames of its traceback: do not keep it after its `except` block, or clear the frames (`traceback.clear_frames(e.__traceback__)`).'),
  },
  {
    classes: ['hook'],
    when: ({ container }) => /_hooks$/.test(container ?? ''),
    text: t('A hook is registered in {each}, and each one keeps what it sees: register it once, before the loop, or call `handle.remove()` when the step is done.'),
  },
  {
    classes: ['hook'],
    text: t('A hook keeps what it sees: remove it (`handle.remove()`) when it is no longer needed, or let it move what it stores to the CPU (`{cpu}`).'),
  },
  {
    classes: ['gradients'],
    text: t('Gradients of past steps are kept: move them to the CPU (`grad{cpu}`) or store a norm instead, and let `zero_grad(set_to_none=True)` free them.'),
  },
  {
    classes: ['backward', 'graph'],
    pattern: /retain_graph\s*=\s*True/,
    text: t('With `retain_graph=True` the graph lives as long as a tensor of it: leave it out, or drop that tensor ({holder}) after the step.'),
  },
  {
    classes: ['outputs', 'backward', 'graph'],
    pattern: /\badd_param_group\s*\(/,
    holder: /\.state\[/,
    text: t('The optimizer is given more parameters in {each} and keeps a state for each of them: add each parameter once, or make a new optimizer when others are trained.'),
  },
  {
    classes: ['outputs'],
    pattern: /\bstate_dict\s*\(|\bdeepcopy\s*\(/,
    text: t('Copies of the weights are kept on the GPU: store them on the CPU (`{k: v.cpu() for k, v in model.state_dict().items()}`) or in a file, and keep only the best.'),
  },
  {
    classes: ['outputs', 'backward', 'graph'],
    holder: /\(cache\)(?!.*\[\.\.\.\])/,
    when: ({ bound }) => bound === null,
    text: t('{container} keeps its result for every new argument: `functools.cache`, or `lru_cache` with `maxsize=None`, has no bound. Give it one (`@functools.lru_cache(maxsize=128)`).'),
  },
  {
    classes: ['outputs', 'backward', 'graph'],
    when: ({ metric }) => metric === true,
    text: t('{container} is a state of a metric of torchmetrics, which keeps what it is given: call `.reset()` after each epoch, or make the metric with `compute_on_cpu=True`.'),
  },
  {
    classes: ['graph'],
    holder: /\[\.\.\.\]|\(cache\)/,
    when: holder => !isOfTuple(holder),
    trains: false,
    text: t('{container} grows with {each}, and all of it keeps its graph: where nothing is trained, work under `with torch.no_grad():`; else keep `{cpu}` of it.'),
  },
  {
    classes: ['outputs', 'backward', 'graph'],
    holder: /\[\.\.\.\]|\(cache\)/,
    when: holder => holder.one === true && !isOfTuple(holder),
    text: t('{container} grows with {each}: keep the number alone (`.item()`) or, where a tensor is needed, `{cpu}`; else take out what is no longer needed, or give it a bound.'),
  },
  {
    classes: ['outputs', 'backward', 'graph'],
    holder: /\[\.\.\.\]|\(cache\)/,
    when: holder => !isOfTuple(holder),
    text: t('{container} grows with {each}: move the tensors that you keep to the CPU (`{cpu}`), take out what is no longer needed, or give it a bound.'),
  },
  {
    classes: ['graph'],
    holder: /./,
    text: t('Something that belongs to the graph is kept at {holder}: store its `.detach()` (of a tuple, that of each part), so that the graph can be freed.'),
  },
  {
    classes: ['graph'],
    text: t('A tensor with its graph is kept of {each}: find what stores it and store its `.detach()` instead.'),
  },
  {
    classes: ['pinned'],
    text: t('Pinned host memory is allocated in {each} and never freed: reuse the buffers, or let the DataLoader pin (`pin_memory=True`) with a fixed number of workers.'),
  },
  {
    classes: ['driver'],
    library: /^NCCL/,
    text: t('NCCL took it for a process group, which keeps its communicators until it is destroyed, also when no variable has it any more: make each group only once, or call `torch.distributed.destroy_process_group(group)` when it is done.'),
  },
  {
    classes: ['driver'],
    library: /^cuFFT/,
    text: t('cuFFT keeps a workspace for each plan: use few different shapes, or call `torch.backends.cuda.cufft_plan_cache.clear()` to drop the plans that PyTorch keeps.'),
  },
  {
    classes: ['driver'],
    library: /^cu(BLAS|DNN|SOLVER|SPARSE|RAND)/,
    text: t('{library} keeps a workspace for each handle: create a handle only once, and destroy it when it is done. PyTorch makes one for each thread and stream that uses the library: use few of them, again and again.'),
  },
  {
    classes: ['driver'],
    text: t('The memory comes straight from the driver and is never freed: free the handle, or create it only once.'),
  },
  {
    classes: null,
    holder: /./,
    text: t('{holder} keeps it: drop it when the step is done, or move it to the CPU (`{cpu}`).'),
  },
  {
    classes: null,
    text: t('Find what stores it: drop it when the step is done, or move it to the CPU (`{cpu}`).'),
  },
];

/** What is known of a leak beside its holder. */
interface LeakFacts {
  /** Source text, the most telling line first; none may be known. */
  lines?: readonly string[];
  /** It grows every so many steps. */
  period?: number | null;
  /** Which took it from the driver; null: not known. */
  library?: string | null;
  /** Its tensors may be PyTorch's. */
  torch?: boolean;
  /** The program has steps of an optimizer. */
  trains?: boolean;
}

/** One sentence of advice. */
export function suggest(leak: LeakClass, holder: FindingHolder | null, facts: LeakFacts = {}): string {
  const { lines = [], period = null, library = null, torch = true, trains = true } = facts;
  if (holder?.fix) return fixText(holder.fix);
  const path = holder?.path ?? null;
  const row = TABLE.find(
    ({ classes, holder: named, pattern, library: taker, when, trains: only, text }) =>
      (classes === null || classes.includes(leak)) &&
      (named === undefined || (path !== null && named.test(path))) &&
      (taker === undefined || (library !== null && taker.test(library))) &&
      (when === undefined || (holder !== null && when(holder))) &&
      (only === undefined || only === trains) &&
      (holder?.toHost === undefined || !OF_TORCH.test(text)) &&
      (pattern === undefined || lines.some(line => pattern.test(line))),
  );
  if (row === undefined) throw new Error('The last row fits everything.');
  const holds = path ?? t('what holds it');
  const grows = holder?.container ?? holds.replace(/^(.*)\[\.\.\.\].*$/, '$1');
  const container = grows.replace(/\(cache\)$/, '');
  const cpu = holder?.toHost ?? (holder?.graph === false ? '.cpu()' : '.detach().cpu()');
  const text = torch ? row.text : row.text.replace(' (`{cpu}`)', '');
  const filled = text.replaceAll('{cpu}', cpu).replaceAll('{each}', eachStepText(period ?? 1));
  return filled
    .replaceAll('{library}', library ?? '')
    .replaceAll('{holder}', holds)
    .replaceAll('{container}', container);
}

/** What is moved is gone from the GPU; of what stays there, only its graph is. */
function fixText({ statement, adds }: Fix): string {
  return adds.includes('.cpu()')
    ? t('Write `{0}`: the values stay the same, on the CPU and without a graph.', statement)
    : t('Write `{0}`: the value stays the same, and its graph is freed.', statement);
}
