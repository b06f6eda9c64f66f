import { t } from '@vscode/l10n';
import { formatCount } from '../../../text/format';
import type { FindingHolder } from '../../../protocol/verdicts';
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
  /** PyTorch took it for its cache of pinned memory: its blocks stay when the tensors in them are gone. */
  pinnedCache: boolean;
}

/** Null: it is a leak. Else why it may still be something that fills, in a sentence or two. */
export function doubtOf(growth: Growth): string | null {
  const { holder, rises, ended, settingUp, built, nameable, guessed, snapshot, models, ofLibrary, pinnedCache } =
    growth;
  const keeper = holder?.container ?? holder?.path ?? '';
  if (growth.ofSize && holder?.limit === 'anew')
    return t(
      '{0} gets a new, bigger tensor in {1} steps, which replaces the one before. If the sizes grow on purpose, as with bigger batches or longer inputs, this is not a leak.',
      keeper,
      formatCount(rises),
    );
  const early = settingUp && (!ended || (built && rises < MOST_LAYERS));
  if (guessed && snapshot && rises < T.many)
    return t(
      'It grew in {0} rounds of a loop. A memory snapshot does not say whether they are training steps or a set-up, nor what holds the memory: run the program under the tracer to find out.',
      formatCount(rises),
    );
  if (guessed && nameable && holder === null && rises < T.many && !pinnedCache && !ofLibrary) {
    const seen = formatCount(rises);
    return ended
      ? t(
          'It grew in {0} rounds of a loop. What holds it is not known, nor whether the rounds are training steps: run it longer, or mark each step with gpu_memtrace.step().',
          seen,
        )
      : t(
          'It grew in {0} rounds of a loop so far. What holds it is not known yet, nor whether the rounds are training steps.',
          seen,
        );
  }
  if (guessed && nameable && rises < T.times * T.few) {
    const seen = formatCount(rises);
    return ended
      ? t(
          'It grew in {0} rounds of a loop: too few to know that they are steps and not a set-up. Run it longer, or mark each step with gpu_memtrace.step().',
          seen,
        )
      : t('It grew in {0} rounds of a loop so far: too few to know that they are steps and not a set-up.', seen);
  }
  if (models)
    return t(
      'In {0} steps a model, or layers of one, was added and stayed alive. If all of them are needed, this is no leak; else keep only what is needed of each, such as its scores.',
      formatCount(rises),
    );
  if (!nameable || (!early && isCertain(growth))) return null;
  if (early && ended)
    return t(
      'It grew in {0} rounds, until the end of the trace. They may be the building of a model rather than steps: {1} keeps all that they allocate.',
      formatCount(rises),
      keeper === '' ? t('something') : keeper,
    );
  if (early && (holder === null || holder.limit === 'none'))
    return t('It grows so far; what repeats may be the building of a model rather than steps.');
  if (ended && holder === null)
    return t(
      'It grew until the end of the trace, in at least {0} steps. PyTorch keeps pinned memory in a cache, which also grows while more copies are under way at once, as where Python runs ahead of the GPU. Run it longer: what still grows then, or has a holder, is a leak.',
      formatCount(rises),
    );
  if (ended)
    return t(
      'It grew until the end of the trace, in at least {0} steps. Whether it would have stopped is not known: the program also empties, joins or measures {1}. Run it until that is emptied or full: what still grows then is a leak.',
      formatCount(rises),
      keeper,
    );
  const so = t('It grew in at least {0} steps so far.', formatCount(rises));
  if (holder?.kind === 'cycle') return t('{0} Python’s collector may still come to it and free it.', so);
  if (holder !== null && isBounded(growth))
    return t('{0} The program also empties, joins or measures {1}: it may fill up and stop.', so, keeper);
  const why =
    holder === null
      ? t('{0} It may fill up and stop: it is not known yet who holds it.', so)
      : t('{0} It may fill up and stop: whether {1} has a bound is not known.', so, keeper);
  const most = formatCount(T.times * T.many);
  return `${why} ${t('After {0} such steps, or when the program ends, it counts as a leak.', most)}`;
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
