import { applyOptions, type OptionTable, Usage } from './optionReader';
import { size } from './startArguments';

export interface FitArguments {
  verb: 'fit';
  /** A running program's process id, a saved trace or a memory snapshot. */
  where: string;
  /** The same program with another batch; null: none. */
  other: string | null;
  /** Batch of the run, and of the other; empty: not known. */
  batches: number[];
  /** The batch that is to be tried; null: none. */
  tried: number | null;
  /** Memory of another GPU; null: the run's own. */
  gpuBytes: number | null;
  /** Modules whose activations are made again in the backward pass; null: none. */
  checkpoint: string | null;
  /** Settings as in PYTORCH_CUDA_ALLOC_CONF; null: those of the run. */
  allocator: string | null;
  /** In which a batch is computed, with their gradients added up. */
  parts: number;
  /** What the optimizer's states take, as a share of what they took. */
  stateShare: number;
  /** As in `Change` of fit/forecast.ts. */
  oneByOne: boolean;
  halfParameters: boolean;
  gradientsFreed: boolean;
  freedLine: string | null;
  ranks: number;
  format: 'table' | 'json';
}

const OPTIONS: OptionTable<FitArguments> = {
  '--batch': (parsed, options) => Object.assign(parsed, batches(options.value())),
  '--gpu': (parsed, options) => (parsed.gpuBytes = size(options, '--gpu')),
  '--checkpoint': (parsed, options) => (parsed.checkpoint = options.value()),
  '--allocator': (parsed, options) => (parsed.allocator = options.value()),
  '--accumulate': (parsed, options) => (parsed.parts = count('--accumulate', 'parts', options.value())),
  '--optimizer-states': (parsed, options) => (parsed.stateShare = share(options.value())),
  '--no-foreach': parsed => (parsed.oneByOne = true),
  '--bf16-parameters': parsed => (parsed.halfParameters = true),
  '--set-to-none': parsed => (parsed.gradientsFreed = true),
  '--free': (parsed, options) => (parsed.freedLine = line(options.value())),
  '--fsdp': (parsed, options) => (parsed.ranks = count('--fsdp', 'ranks', options.value())),
  '--format': (parsed, options) => (parsed.format = options.choice(['table', 'json'])),
};

const MOST = 1024;

/** Throws `Usage`, `HelpRequested`. */
export function parseFit(words: readonly string[]): FitArguments {
  const parsed: FitArguments = {
    ...{ verb: 'fit', where: '', other: null, batches: [], tried: null, gpuBytes: null },
    ...{ checkpoint: null, allocator: null, parts: 1, stateShare: 1, format: 'table' },
    ...{ oneByOne: false, halfParameters: false, gradientsFreed: false, freedLine: null, ranks: 1 },
  };
  const [where, other = null, ...more] = applyOptions(parsed, words, OPTIONS);
  if (where === undefined || more.length > 0)
    throw new Usage(
      'Give one trace, or two traces of the same program with different batches: gpu-memtrace fit run.gputrace',
    );
  if (other !== null && parsed.batches.length !== 2)
    throw new Usage('Give the batch of each trace, such as --batch 8,16.');
  if (other === null && parsed.batches.length > 1)
    throw new Usage('Two batches need two traces: gpu-memtrace fit A.gputrace B.gputrace --batch 8,16');
  return { ...parsed, where, other };
}

/** `8`, `8:24`, `8,16`, `8,16:24`. Throws `Usage`. */
function batches(text: string): Pick<FitArguments, 'batches' | 'tried'> {
  const [, first, second, tried] = /^([1-9]\d{0,8})(?:,([1-9]\d{0,8}))?(?::([1-9]\d{0,8}))?$/.exec(text) ?? [];
  if (first === undefined || first === second)
    throw new Usage(`--batch ${text} is not a batch such as 8, 8:24 (to try 24), or 8,16 for two traces.`);
  const both = second === undefined ? [first] : [first, second];
  return { batches: both.map(Number), tried: tried === undefined ? null : Number(tried) };
}

/** Throws `Usage`. */
function count(option: string, what: string, text: string): number {
  const given = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (given >= 2 && given <= MOST) return given;
  throw new Usage(`${option} ${text} is not a number of ${what} from 2 to ${MOST}.`);
}

/** Throws `Usage`. */
function line(text: string): string {
  if (/.:\d+$/.test(text)) return text;
  throw new Usage(`--free ${text} is not a line, such as train.py:38.`);
}

/** `25%` as a share. Throws `Usage`. */
function share(text: string): number {
  const percent = /^(\d{1,3})%$/.exec(text)?.[1];
  if (percent !== undefined) return Number(percent) / 100;
  throw new Usage(`--optimizer-states ${text} is not a percentage, such as 25%.`);
}
