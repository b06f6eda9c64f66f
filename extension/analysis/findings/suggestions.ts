import { t } from '@vscode/l10n';
import type { LeakClass } from '../../protocol/verdicts';

// What to do about a finding, in one sentence: the first row that fits. Rows are data, so that one can be added without
// touching code. `{target}` and `{value}` are the groups of the pattern, `{holder}` what the agent named.

interface Advice {
  classes: readonly LeakClass[] | null;
  /** Must be found in the source of the holder's line or of the site's line; absent: fits any. */
  pattern?: RegExp;
  /** Must be found in the holder's kind or path. */
  holder?: RegExp;
  text: string;
}

const NAME = String.raw`[A-Za-z_][\w.]*(?:\[[^\]]*\])?`;
const target = (rest: string): RegExp => new RegExp(String.raw`(?<target>${NAME})${rest}`);

// prettier-ignore
const TABLE: readonly Advice[] = [
  {
    classes: ['graph', 'outputs', 'backward'],
    pattern: target(String.raw`\s*\+=\s*(?<value>${NAME})\s*(?:#|;|$|[*/])`),
    text: t('Add the number, not the tensor with its graph: `{target} += {value}.item()` (or `.detach()`, which does not wait for the GPU).'),
  },
  {
    classes: ['graph', 'outputs', 'backward'],
    pattern: new RegExp(String.raw`(?<target>${NAME})\s*=\s*\k<target>\s*\+\s*(?<value>${NAME})`),
    text: t('Add the number, not the tensor with its graph: `{target} = {target} + {value}.item()` (or `.detach()`, which does not wait for the GPU).'),
  },
  {
    classes: ['size'],
    pattern: /\b(cat|concat|concatenate|stack|hstack|vstack)\s*\(/,
    text: t('Collect the parts on the CPU and join them once at the end (`parts.append(x.detach().cpu())`, then one `torch.cat(parts)`), or keep only the number that is needed.'),
  },
  {
    classes: ['size'],
    text: t('A tensor is made bigger step by step: keep its parts on the CPU, bound its length, or start it anew with each epoch.'),
  },
  {
    classes: ['cycle'],
    text: t('Objects refer to each other in a circle, so only the collector can free their tensors: break the circle (`weakref.ref`, or delete one of the references), or call `gc.collect()` now and then.'),
  },
  {
    classes: ['exception'],
    text: t('A kept exception keeps all frames of its traceback: leave the `except` block without storing it, or drop the frames (`traceback.clear_frames(e.__traceback__)`).'),
  },
  {
    classes: ['hook'],
    text: t('A hook keeps what it sees: remove it (`handle.remove()`) when it is no longer needed, or let it store `.detach().cpu()`.'),
  },
  {
    classes: ['gradients'],
    text: t('Gradients of past steps are kept: store `grad.detach().cpu()` or a norm instead, and let `zero_grad(set_to_none=True)` free them.'),
  },
  {
    classes: ['backward'],
    pattern: /create_graph\s*=\s*True/,
    text: t('With `create_graph=True` gradients keep their own graph: use `torch.autograd.grad`, or set the gradients to None after the step.'),
  },
  {
    classes: ['backward', 'graph'],
    pattern: /retain_graph\s*=\s*True/,
    text: t('With `retain_graph=True` the graph lives as long as a tensor of it: leave it out, or drop that tensor ({holder}) after the step.'),
  },
  {
    classes: ['outputs'],
    pattern: /\bstate_dict\s*\(|\bdeepcopy\s*\(/,
    text: t('Copies of the weights are kept on the GPU: store them on the CPU (`{k: v.cpu() for k, v in model.state_dict().items()}`) or in a file, and keep only the best.'),
  },
  {
    classes: null,
    pattern: target(String.raw`\.(?<value>append|add|put|put_nowait|appendleft|insert|extend)\s*\(`),
    text: t('`{target}` gets more with each step: store `.detach().cpu()` (or `.item()`), or bound it (`collections.deque(maxlen=...)`).'),
  },
  {
    classes: ['graph'],
    holder: /./,
    text: t('Something that belongs to the graph is kept at {holder}: store `.detach()` or `.item()` of it, so that the graph can go.'),
  },
  {
    classes: ['graph'],
    text: t('A tensor with its graph is kept from step to step: find what stores it and store `.detach()` or `.item()` instead.'),
  },
  {
    classes: ['pinned'],
    text: t('Pinned host memory is taken in each step and never given back: reuse the buffers, or let the DataLoader pin (`pin_memory=True`) with a fixed number of workers.'),
  },
  {
    classes: ['driver'],
    text: t('Memory is taken from the driver past PyTorch’s cache and never given back: free the handle, or create it once.'),
  },
  {
    classes: null,
    pattern: target(String.raw`\[[^\]]*\]\s*=`),
    text: t('`{target}` gets a new entry with each step: drop old ones, or store `.detach().cpu()`.'),
  },
  {
    classes: null,
    holder: /./,
    text: t('{holder} keeps it: drop it when the step is done, or store `.detach().cpu()` instead.'),
  },
  {
    classes: null,
    text: t('Find what stores it and drop it when the step is done, or store `.detach().cpu()` instead.'),
  },
];

/** One sentence of advice. Lines are source text, the one that says most first; none may be known. */
export function suggest(leak: LeakClass, lines: readonly string[], holder: string | null): string {
  const rows = TABLE.filter(row => row.classes === null || row.classes.includes(leak)).filter(
    row => row.holder === undefined || (holder !== null && row.holder.test(holder)),
  );
  // The first line that any row knows is the one to speak of, whichever row comes first.
  const line = lines.find(text => rows.some(row => row.pattern?.test(text))) ?? '';
  const row = rows.find(entry => entry.pattern === undefined || entry.pattern.test(line));
  if (row === undefined) throw new Error('The last row fits everything.');
  const { target: name, value } = row.pattern?.exec(line)?.groups ?? {};
  return row.text
    .replaceAll('{target}', name ?? '')
    .replaceAll('{value}', value ?? '')
    .replaceAll('{holder}', holder ?? t('what holds it'));
}
