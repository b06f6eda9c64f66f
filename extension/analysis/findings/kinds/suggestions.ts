import { codePath } from '../../../text/markdown';
import { t } from '@vscode/l10n';
import type { FindingHolder, Fix, LeakClass } from '../../../protocol/verdicts';
import { howOftenText } from '../../words';

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
   * tensor to the CPU, without its graph unless it has none; `{each}` is “every step” or “about every 20 steps”.
   */
  text: string;
}

/** A variable of a function that an exception passed. */
const OF_TRACEBACK = /\.__traceback__ > /;
/** The same, where nothing in that function is what grows. */
const KEPT_BY_TRACEBACK = /\.__traceback__ > (?!.*(\[\.\.\.\]|\(cache\)))/;
// prettier-ignore
const KEEP_NO_EXCEPTION = t('A stored exception keeps its traceback, and with it the local variables of every frame. Store `str(error)` instead, or clear the traceback (`error.with_traceback(None)`).');

/** An element, which may be that of a tuple. */
const ENTRY = /\[\.\.\.\]( \(its graph\))?$/;

/** Advice that only tensors of PyTorch can follow. */
const OF_TORCH = /torch|x\{cpu\}|grad/;

/** Not the tuple grows, such as an LSTM's state, but the graph that hangs on it. */
const isOfTuple = ({ kind, length }: FindingHolder): boolean => kind === 'autograd' && length === null;

// prettier-ignore
export const KEEPS_RESULTS = t('IPython stores the result of every cell. `%reset -f out` frees all but the newest two; `get_ipython().user_ns_hidden.update(_="", __="", ___="")` frees those as well. End the last line of a cell with `;` to store no result.');
/** IPython keeps the newest exception that it showed; when another one takes its place, a cycle is left. */
// prettier-ignore
const KEEPS_FAILURE = t('The notebook stores the last exception, and with it the local variables of every frame. Raise another exception in a cell (`1/0`), then call `gc.collect()`.');

// prettier-ignore
const TABLE: readonly Advice[] = [
  { classes: null, holder: /^(Out\[|_+(?!\w))/, text: KEEPS_RESULTS },
  { classes: null, holder: /^the last exception/, text: KEEPS_FAILURE },
  {
    classes: ['backward', 'graph', 'outputs', 'gradients'],
    pattern: /create_graph\s*=\s*True/,
    text: t('With `create_graph=True`, gradients keep their own graph alive. Use `torch.autograd.grad`, or set the gradients to None after each step.'),
  },
  { classes: ['exception'], holder: OF_TRACEBACK, text: KEEP_NO_EXCEPTION },
  { classes: ['graph', 'outputs', 'backward', 'gradients'], holder: KEPT_BY_TRACEBACK, text: KEEP_NO_EXCEPTION },
  {
    classes: ['size'],
    pattern: /\b(cat|concat|concatenate|stack|hstack|vstack)\s*\(/,
    text: t('Collect the parts on the CPU and join them once at the end (`parts.append(x{cpu})`, then a single `torch.cat(parts)`), or store only the values you need.'),
  },
  {
    classes: ['size'],
    text: t('A tensor grows {each}. Store its parts on the CPU, limit its length, or start a new one every epoch.'),
  },
  {
    classes: ['cycle'],
    text: t('Objects reference each other in a cycle, so only the garbage collector can free their tensors. Break the cycle (use `weakref.ref`, or delete one of the references). Regular calls of `gc.collect()` are only a stopgap.'),
  },
  {
    classes: ['exception'],
    text: t('A stored exception keeps every frame of its traceback alive. Do not store it beyond its `except` block, or clear the frames (`traceback.clear_frames(e.__traceback__)`).'),
  },
  {
    classes: ['hook'],
    when: ({ container }) => /_hooks$/.test(container ?? ''),
    text: t('A new hook is registered {each}, and every hook keeps the tensors it receives. Register it once, before the loop, or call `handle.remove()` at the end of the step.'),
  },
  {
    classes: ['hook'],
    text: t('A hook stores the tensors it receives. Remove it (`handle.remove()`) when it is no longer needed, or store the tensors on the CPU (`{cpu}`).'),
  },
  {
    classes: ['gradients'],
    text: t('Gradients of past steps are stored. Move them to the CPU (`grad{cpu}`) or store only their norm, and free them with `zero_grad(set_to_none=True)`.'),
  },
  {
    classes: ['backward', 'graph'],
    pattern: /retain_graph\s*=\s*True/,
    text: t('With `retain_graph=True`, the graph stays alive as long as any of its tensors. Remove the argument, or drop that tensor ({holder}) after the step.'),
  },
  {
    classes: ['outputs', 'backward', 'graph'],
    pattern: /\badd_param_group\s*\(/,
    holder: /\.state\[/,
    text: t('Parameters are added to the optimizer {each}, and it stores state for each of them. Add each parameter only once, or create a new optimizer when you train different parameters.'),
  },
  {
    classes: ['outputs'],
    pattern: /\bstate_dict\s*\(|\bdeepcopy\s*\(/,
    text: t('Copies of the weights are stored on the GPU. Store them on the CPU (`{k: v.cpu() for k, v in model.state_dict().items()}`) or in a file, and keep only the best one.'),
  },
  {
    classes: ['outputs', 'backward', 'graph'],
    holder: /\(cache\)(?!.*\[\.\.\.\])/,
    when: ({ bound }) => bound === null,
    text: t('{container} caches a result for every new argument, and `functools.cache` (like `lru_cache` with `maxsize=None`) has no size limit. Set one (`@functools.lru_cache(maxsize=128)`).'),
  },
  {
    classes: ['outputs', 'backward', 'graph'],
    when: ({ metric }) => metric === true,
    text: t('{container} is the state of a torchmetrics metric, which accumulates its inputs. Call `.reset()` after each epoch, or create the metric with `compute_on_cpu=True`.'),
  },
  {
    classes: ['graph'],
    holder: /\[\.\.\.\]|\(cache\)/,
    when: holder => !isOfTuple(holder),
    trains: false,
    text: t('{container} grows {each}, and every entry keeps its autograd graph alive. If nothing is trained here, use `torch.no_grad()`. Otherwise store `{cpu}` of each tensor.'),
  },
  {
    classes: ['outputs', 'backward', 'graph'],
    holder: /\[\.\.\.\]|\(cache\)/,
    when: holder => holder.one === true && !isOfTuple(holder),
    text: t('{container} grows {each}. Store just the number (`.item()`) or, if you need a tensor, `{cpu}`. Otherwise remove old entries or limit its size.'),
  },
  {
    classes: ['outputs', 'backward', 'graph'],
    holder: /\[\.\.\.\]|\(cache\)/,
    when: holder => !isOfTuple(holder),
    text: t('{container} grows {each}. Move the stored tensors to the CPU (`{cpu}`), remove old entries, or limit its size.'),
  },
  {
    classes: ['graph'],
    holder: ENTRY,
    text: t('{holder} keeps its autograd graph alive. Store `.detach()` of the tensor instead (for a tuple, of each element).'),
  },
  {
    classes: ['graph'],
    holder: /./,
    text: t('{holder} keeps its autograd graph alive. Store `.detach()` of the tensor instead.'),
  },
  {
    classes: ['graph'],
    text: t('A tensor is stored together with its autograd graph {each}. Find the code that stores it, and store `.detach()` of the tensor instead.'),
  },
  {
    classes: ['pinned'],
    text: t('Pinned host memory is allocated {each} and never freed. Reuse the buffers, or let the DataLoader pin memory (`pin_memory=True`) with a fixed number of workers.'),
  },
  {
    classes: ['driver'],
    library: /^NCCL/,
    text: t('NCCL allocated it for a process group. A process group keeps its communicators until it is destroyed, even if no variable refers to it any longer. Create each group only once, or call `torch.distributed.destroy_process_group(group)` when you no longer need it.'),
  },
  {
    classes: ['driver'],
    library: /^cuFFT/,
    text: t('cuFFT allocates a workspace per plan. Use fewer different shapes, or call `torch.backends.cuda.cufft_plan_cache.clear()` to drop the plans that PyTorch caches.'),
  },
  {
    classes: ['driver'],
    library: /^cu(BLAS|DNN|SOLVER|SPARSE|RAND)/,
    text: t('{library} allocates a workspace per handle. Create a handle only once, and destroy it when you no longer need it. PyTorch creates one for each thread and stream that uses the library: reuse a few threads and streams.'),
  },
  {
    classes: ['driver'],
    text: t('The memory is allocated directly from the driver and never freed. Free the handle, or create it only once.'),
  },
  {
    classes: null,
    holder: /./,
    text: t('{holder} keeps it alive. Drop the tensor after each step, or move it to the CPU (`{cpu}`).'),
  },
  {
    classes: null,
    text: t('Find what stores it, and drop it after each step or move it to the CPU (`{cpu}`).'),
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
  const holds = path ?? t('its holder');
  const grows = holder?.container ?? holds.replace(/^(.*)\[\.\.\.\].*$/, '$1');
  const container = grows.replace(/\(cache\)$/, '');
  const cpu = holder?.toHost ?? (holder?.graph === false ? '.cpu()' : '.detach().cpu()');
  const text = torch ? row.text : row.text.replace(' (`{cpu}`)', '');
  const filled = text.replaceAll('{cpu}', cpu).replaceAll('{each}', howOftenText(period ?? 1));
  return filled
    .replaceAll('{library}', library ?? '')
    .replaceAll('{holder}', path === null ? holds : codePath(holds.replace(' (its graph)', '')))
    .replaceAll('{container}', path === null ? container : codePath(container));
}

/** What is moved is gone from the GPU; of what stays there, only its graph is. */
export function fixText({ statement, adds }: Fix): string {
  return adds.includes('.cpu()')
    ? t('Write `{0}`. The values stay the same, but they are on the CPU and have no graph.', statement)
    : t('Write `{0}`. The value stays the same, and its graph is freed.', statement);
}
