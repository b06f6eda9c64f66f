// Findings of the fake host: two leaks, a fragmentation, an outlier; the first has a holder that can be queried. In other stories nothing
// leaks, or memory ran out because of a leak; in one the first leak has other holders, too.
import type {
  FindingsView,
  FindingView,
  HolderFound,
  OtherLine,
} from '../../extension/protocol/requests/verdictRequests';
import { isLeak } from '../../extension/protocol/verdicts';

const MB = 1 << 20;
const FILE = '/home/user/project/train.py';
let inquiry: FindingView['holders'] = null;

const place = (line: number): NonNullable<FindingView['place']> => {
  return { site: line, file: FILE, line, function: 'training_step', bytesPerStep: 4.19 * MB };
};
const holder: HolderFound = {
  path: 'train().epoch_loss (its graph)',
  kind: 'autograd',
  file: FILE,
  line: 12,
  function: 'train',
  length: null,
  bound: null,
  count: 198,
  bytes: 800 * MB,
  chain: [],
};
const list: HolderFound = {
  ...holder,
  path: '__main__.seen[...]',
  kind: 'container',
  length: 1200,
  count: 2,
  bytes: 6 * MB,
  chain: [{ kind: 'list', name: '[...]', type: 'Tensor', length: 1200 }],
};

const fix = {
  ...{ line: 12, column: 5, endLine: 12, endColumn: 23 },
  ...{ before: 'loss', after: 'loss.detach()', adds: '.detach()', statement: 'epoch_loss += loss.detach()' },
};

function finding(part: Partial<FindingView>): FindingView {
  return {
    id: 'leak 0',
    verdict: 'leak',
    class: 'graph',
    cause: null,
    title:
      'train.py:12 keeps each step’s autograd graph alive: 3 tensors and 4.19 MiB per step, allocated at train.py:10, since step 12',
    headline: 'train.py:12 keeps each step’s autograd graph alive',
    detail: '3 tensors and 4.19 MiB per step, allocated at train.py:10, since step 12',
    processes: 1,
    atStep: null,
    process: 0,
    device: 0,
    layer: 'tensor',
    bytesPerStep: 4.19 * MB,
    bytes: 820 * MB,
    count: 600,
    blocksPerStep: 3,
    sinceStep: 12,
    period: 1,
    fullAtStep: 32_647,
    fullInSteps: 32_435,
    fullInSeconds: null,
    confidence: 0.99,
    place: place(10),
    places: [place(10)],
    sites: [1],
    holder: null,
    unnamed: null,
    library: null,
    evidence: [
      'Since step 12, in each step more blocks stayed alive, 200 times.',
      'Until step 11 its blocks were freed at train.py:66 backward; since then, none.',
    ],
    ruledOut: [
      'Not warm-up: it still grew 200 steps after it began.',
      'No fragmentation: the tensors themselves grow.',
    ],
    suggestion: 'Write `epoch_loss += loss.detach()`: the value stays the same, and its graph is freed.',
    spark: Array.from({ length: 48 }, (_, i) => Math.max(0, i - 4) * 17 * MB),
    heldWhen: 'at the end of step 212',
    bytesAtStep: null,
    queryable: true,
    holders: null,
    ...part,
  };
}

/** What happens to the program. */
export type Story = 'leaks' | 'shared' | 'clean' | 'outOfMemory' | 'filling';

/** @param most findings that there are at most, leaks first */
export function findings(story: Story = 'leaks', most = Infinity): FindingsView {
  const share = { blocks: 198, of: 200, others: 1, named: [] };
  const held = (one: FindingView): FindingView =>
    one.id === 'leak 0' && one.holder ? { ...one, holder: { ...one.holder, share } } : one;
  const view: FindingsView = {
    stale: false,
    revision: 0,
    overall: 'found',
    sentence: '2 leaks, 2 other findings',
    findings: [],
  };
  if (story === 'clean') return { ...view, overall: 'clean', sentence: 'Nothing leaks' };
  if (story === 'outOfMemory') return { ...view, sentence: 'Memory ran out', findings: [failure()] };
  if (story === 'filling') return { ...view, sentence: '1 slow leak, 1 place that grows so far', findings: filling() };
  const found = most === Infinity ? { ...view, findings: leaks() } : { ...view, ...few(most) };
  return story === 'shared' ? { ...found, findings: found.findings.map(held) } : found;
}

function few(most: number): Pick<FindingsView, 'sentence' | 'findings'> {
  const [leaking, others] = [true, false].map(leak => leaks().filter(one => isLeak(one) === leak));
  const shown = [...leaking!, ...others!].slice(0, most);
  const leakCount = shown.filter(isLeak).length;
  const counts = [`${leakCount} leak${leakCount === 1 ? '' : 's'}`];
  if (shown.length > leakCount) counts.push(`${shown.length - leakCount} other finding`);
  return { sentence: counts.join(', '), findings: shown };
}

/** Growth that may be something that fills, and a leak that would fill the device in more than a year. */
function filling(): FindingView[] {
  return [
    finding({
      id: 'rising 0',
      verdict: 'rising',
      class: null,
      title: 'train.py:31: 1 tensor of each step stays alive, 1.20 MiB a step',
      headline: 'train.py:31: 1 tensor of each step stays alive',
      detail: '1.20 MiB a step',
      place: place(31),
      evidence: ['It grew in 34 steps so far. It may fill up and stop: it is not known yet who holds it.'],
    }),
    finding({
      id: 'slow 0',
      verdict: 'slow',
      title: 'metrics.py:23 keeps 1 more tensor alive every step: 512 B per step, since step 4',
      headline: 'metrics.py:23 keeps 1 more tensor alive every step',
      detail: '512 B per step, since step 4',
      bytesPerStep: 512,
      bytes: 106_496,
      fullInSeconds: 2.9e8,
      place: { ...place(23), file: '/home/user/project/metrics.py' },
    }),
    finding({
      ...{ id: 'rounded 0', verdict: 'rounded', class: null, layer: 'host', bytesPerStep: 0, sinceStep: null },
      title: 'experts[...] takes 3 GiB of pinned host memory for 1.69 GiB of tensors: 1.78 times as much',
      headline: 'experts[...] takes 3 GiB of pinned host memory for 1.69 GiB of tensors',
      detail: '1.78 times as much',
      ...{ fullAtStep: null, fullInSteps: null, bytes: 3072 * MB, count: 24, queryable: false, spark: [] },
      holder: { ...list, path: 'experts[...]', line: 8, length: 24 },
      suggestion:
        'The size of each pinned tensor is rounded up to a power of two. Pin a few buffers of such sizes, and use slices of them.',
    }),
  ];
}

function failure(): FindingView {
  return finding({
    id: 'oom 0',
    verdict: 'oom',
    cause: 'leak',
    title: '1 GiB did not fit at train.py:10 (training_step) in step 391',
    headline: '1 GiB did not fit at train.py:10 (training_step)',
    detail:
      'A leak filled the memory: train.py:12 keeps each step’s autograd graph alive: 3 tensors and 4.19 MiB per step, allocated at train.py:10, since step 12',
    atStep: 391,
    fullAtStep: null,
    fullInSteps: null,
    fullInSeconds: null,
    queryable: false,
    holder,
    suggestion:
      'Call `optimizer.zero_grad(set_to_none=True)` right after `optimizer.step()`: the gradients of the previous step were still alive. They take 1.20 GiB, in 148 tensors that were allocated at train.py:66 (training_step). This saves 1.20 GiB, more than the 604 MiB that are missing.',
    evidence: ['Free on the device: 412 MiB; in PyTorch’s cache: 96 MiB, the biggest gap 20 MiB.'],
    ruledOut: [],
  });
}

function leaks(): FindingView[] {
  const plain = { class: null, bytesPerStep: 0, fullAtStep: null, fullInSteps: null, holders: null, holder: null };
  return [
    finding({
      ...plain,
      id: 'fragmentation 0',
      verdict: 'fragmentation',
      title:
        'PyTorch’s reserved memory grows, but its allocated memory does not: 2.20 GiB cached in 41 half-empty segments',
      headline: 'PyTorch’s reserved memory grows, but its allocated memory does not',
      detail: '2.20 GiB cached in 41 half-empty segments',
      place: null,
      confidence: 0.8,
      suggestion: 'Let segments grow: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.',
      spark: Array.from({ length: 48 }, (_, i) => Math.sqrt(i)),
    }),
    finding({ holders: inquiry, holder: { ...holder, fix } }),
    finding({
      id: 'leak 1',
      title:
        'train.py:12 keeps 1 more tensor alive about every 5 steps: 640 KiB each time, 128 KiB per step, allocated at metrics.py:23, since step 40',
      headline: 'train.py:12 keeps 1 more tensor alive about every 5 steps',
      detail: '640 KiB each time, 128 KiB per step, allocated at metrics.py:23, since step 40',
      bytesPerStep: 128 * 1024,
      confidence: 0.74,
      place: { ...place(23), file: '/home/user/project/metrics.py' },
      holder: {
        ...list,
        path: '__main__.metrics.seen[...]',
        share: {
          ...{ blocks: 8, of: 13, others: 2 },
          named: [{ path: 'trainer.cache[...]', file: '/home/user/project/trainer.py', line: 44, blocks: 4 }],
        },
        also: [{ path: '__main__.log[...]', file: '/home/user/project/log.py', line: 51, blocks: 8, of: 8 }],
      },
    }),
    finding({
      ...plain,
      id: 'anomaly 0',
      verdict: 'anomaly',
      title: 'One allocation of 2.05 GiB at data.py:77',
      headline: 'One allocation of 2.05 GiB at data.py:77',
      detail: null,
    }),
  ];
}

/** The process takes its time until the waiting is stopped; then it has answered. */
export function noteInquiry(method: 'findHolders' | 'stopHolderSearch'): undefined {
  inquiry =
    method === 'findHolders'
      ? { state: 'asking', sentence: 'Asking process 4711; it answers between two instructions…', results: [] }
      : { state: 'answered', sentence: 'Looked at 200 blocks, 200 of them still alive.', results: [holder, list] };
  return undefined;
}

export function otherLines(): OtherLine[] {
  const line = (at: number, state: OtherLine['state'], because: string): OtherLine => {
    return { site: at, file: FILE, line: at, function: 'main', state, because, liveBytes: at * MB };
  };
  return [
    line(112, 'plateau', 'It has not grown after the first steps.'),
    line(41, 'unknown', 'It rises; it takes 4 more steps to tell.'),
  ];
}

// The same answers with long names of files, as they come in training code, and with figures that have many letters.
const NAMES: Readonly<Record<string, string>> = {
  'train.py': 'long_name_contrastive_pretraining.py',
  'model.py': 'eval_outputs.py',
  'metrics.py': 'distributedvalidationmetrics.py',
};
const FIGURES: Readonly<Record<string, string>> = { heldWhen: 'at the end of step 15,350' };

/** Renames in all texts of an answer; columns of numbers stay as they are. */
export function longNames(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\b(?:train|model|metrics)\.py\b/g, name => NAMES[name]!);
  if (Array.isArray(value)) return value.map(longNames);
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, FIGURES[key] ?? longNames(one)]));
}
