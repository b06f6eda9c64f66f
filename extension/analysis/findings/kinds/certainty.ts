import { t } from '@vscode/l10n';
import { formatCount } from '../../../text/format';
import type { FindingHolder } from '../../../protocol/verdicts';
import { placeText } from '../../words';
import { fewestRecords } from '../../series/records';
import { THRESHOLDS as T } from '../../series/thresholds';

// A cache, a buffer or an epoch's list that fills for the first time looks like a leak in every series. What sets them apart is what
// holds the memory: something that the program never takes anything out of has no bound. Where that is not known, more rises prove it than
// most bounds allow.

/** No model that is known is built in more rounds (Llama 3.1 405B has 126 layers: its `config.json`, `num_hidden_layers`). */
const MOST_LAYERS = 128;

export interface Growth {
  holder: FindingHolder | null;
  /** Steps in which it grew. */
  rises: number;
  /** Some of what was allocated there was freed later, and it grew all the same for as long again: whatever takes things out does so. */
  freed: boolean;
  /** Bytes that are kept by it, and that the device has; null: not known. */
  bytes: number;
  deviceBytes: number | null;
  /** The program has ended: there is nothing to wait for. */
  ended: boolean;
  /** PyTorch's agent is in the process, so that its holder can be found; else there is nothing to wait for either. */
  nameable: boolean;
  /** What is taken for steps may be a set-up, such as building a model layer by layer. */
  settingUp: boolean;
  /** It freed less than a block in a step, left the loop, and ran out of memory behind it. */
  built: boolean;
  /** Its steps are rounds of a loop: the program names none. */
  guessed: boolean;
  /** Models are kept, so few that their number may be intended. */
  models: boolean;
  /** It comes from a memory snapshot, which does not record what holds a block. */
  snapshot: boolean;
  /** A library took it for its own use: no variable of the program holds it. */
  ofLibrary: boolean;
  /** It is one tensor that gets bigger. */
  ofSize: boolean;
  /** It is the autograd graph of a tensor. */
  ofGraph: boolean;
  /** PyTorch took it for its cache of pinned memory: its blocks stay when the tensors in them are gone. */
  pinnedCache: boolean;
}

/** Null: it is a leak. Else why it may still be something that fills, in a sentence or two. */
export function doubtOf(growth: Growth): string | null {
  const { holder, rises, ended, settingUp, built, nameable, guessed, snapshot, models, ofLibrary, pinnedCache } =
    growth;
  const keeper = holder?.container ?? holder?.path.replace(/ \(its graph\)$/, '') ?? '';
  if (growth.ofSize && holder?.limit === 'anew')
    return t(
      'The tensor in {0} was replaced by a larger one in each of {1} steps. If it grows on purpose, as with larger batches or longer inputs, this is not a leak.',
      keeper,
      formatCount(rises),
    );
  const early = settingUp && (!ended || (built && rises < MOST_LAYERS));
  if (guessed && snapshot && rises < T.many)
    return t(
      'It grew in {0} loop iterations. A memory snapshot shows neither whether these are training steps nor what holds the memory. Run the program with the tracer to find out.',
      formatCount(rises),
    );
  if (guessed && nameable && holder === null && rises < T.many && !pinnedCache && !ofLibrary) {
    const seen = formatCount(rises);
    return ended
      ? t(
          'It grew in {0} loop iterations. Its holder is unknown, and the iterations may not be training steps. Run the program longer, or mark each step with gpu_memtrace.step() (Python package).',
          seen,
        )
      : t(
          'It has grown in {0} loop iterations so far. Its holder is not known yet, and the iterations may not be training steps.',
          seen,
        );
  }
  if (guessed && nameable && rises < T.times * T.few) {
    const seen = formatCount(rises);
    return ended
      ? t(
          'It grew in {0} loop iterations, too few to distinguish training steps from setup. Run the program longer, or mark each step with gpu_memtrace.step() (Python package).',
          seen,
        )
      : t('It has grown in {0} loop iterations so far, too few to distinguish training steps from setup.', seen);
  }
  if (models)
    return t(
      'In each of {0} steps, a model or some of its layers was added and stayed alive. If you need all of them, this is not a leak. Otherwise keep only the results, such as the scores.',
      formatCount(rises),
    );
  if (!nameable || (!early && isCertain(growth))) return null;
  if (early && ended)
    return t(
      'It grew in {0} loop iterations, until the end of the trace. The loop may have built the model instead of training it: {1} keeps everything that it allocates.',
      formatCount(rises),
      keeper === '' ? t('something') : keeper,
    );
  if (early && (holder === null || holder.limit === 'none'))
    return t('It is still growing. The loop may be building the model instead of training it.');
  if (ended && holder === null)
    return t(
      'It grew until the end of the trace. PyTorch caches pinned memory, and that cache also grows if more copies are in flight at once, for example when Python runs ahead of the GPU. Run the program longer: if the memory still grows or has a holder, it is a leak.',
    );
  if (ended) {
    const grew = t('It grew until the end of the trace.');
    const intended = t('This may be intended: {0}.', limitText(holder, keeper));
    const instead = growth.ofGraph
      ? t(
          'If no backward pass needs the graph, store the tensor without it (`.detach()`), or just the number (`.item()`).',
        )
      : t('If not all of it is needed on the GPU, keep less of it, or move it to the CPU (`.cpu()`).');
    return `${grew} ${intended} ${instead}`;
  }
  const so = t('It has grown at least {0} times so far.', formatCount(rises));
  if (holder?.kind === 'cycle') return t('{0} Python’s garbage collector may still free it.', so);
  if (holder !== null && isBounded(growth)) return t('{0} It may stop growing: {1}.', so, limitText(holder, keeper));
  const why =
    holder === null
      ? t('{0} It may be a cache or buffer that stops growing once it is full; its holder is not known yet.', so)
      : t('{0} It may stop growing: the size limit of {1}, if any, is unknown.', so, keeper);
  const most = formatCount(T.times * T.many);
  return `${why} ${t('If it has grown {0} times, or still grows when the program ends, and no limit has been found, it is reported as a leak.', most)}`;
}

/** What the program does that may bound a container. */
function limitText(holder: FindingHolder | null, keeper: string): string {
  const at = holder?.limitAt;
  const isOfEntries = /\[\.\.\.\]|\(cache\)/.test(holder?.path ?? '');
  const line = placeText(at ?? null);
  switch (at?.how) {
    case 'joins':
      return t('{0} combines the entries of {1} once all are collected', line, keeper);
    case 'length':
      return t('{0} checks the length of {1}', line, keeper);
    case 'removes':
      return isOfEntries
        ? t('{0} removes entries of {1}', line, keeper)
        : t('{0} assigns a new value to {1}, which frees the old one', line, keeper);
    default:
      return t('the program has code that may limit {0}', keeper);
  }
}

function isBounded({ holder }: Growth): boolean {
  return holder?.limit === 'shrinks' || holder?.limit === 'maybe';
}

function isCertain(growth: Growth): boolean {
  const { holder, rises, freed, bytes, deviceBytes, ended, pinnedCache } = growth;
  const bounded = isBounded(growth);
  if (holder?.limit === 'none' || (!bounded && rises >= T.times * T.many)) return true;
  if (deviceBytes !== null && bytes >= T.part * deviceBytes) return true;
  if (bounded && freed && rises >= T.many) return true;
  if (!ended || (pinnedCache && holder === null)) return false;
  return !bounded || freed || (holder?.limit === 'maybe' && rises >= T.times * fewestRecords());
}
