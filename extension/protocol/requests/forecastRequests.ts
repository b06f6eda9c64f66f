// Requests of the page about what a run would take if something about it changed.
import { flag, nothing, object, Refused, text, type Check, type Checks } from './fieldChecks';

/** What is changed of the recorded run. */
export interface ForecastQuery {
  /** Memory of another GPU; null: of the run's own. */
  gpuBytes: number | null;
  /** Of the recorded run; null: not known. */
  batch: number | null;
  /** The batch that is tried, as a multiple of the recorded one. */
  factor: number;
  /** With expandable segments. */
  expandable: boolean;
  /** Modules whose activations are made again in the backward pass, such as `layers.*`; null: none. */
  checkpoint: string | null;
}

export interface ForecastAnswer {
  /** It is being made: the same request finds it later. */
  working: boolean;
  /** What is waited for, the answer, or why there is none. */
  sentence: string;
  forecast: ShownForecast | null;
}

/** Texts are those of `gpu-memtrace fit`. */
export interface ShownForecast {
  /** The largest batch that fits; `sentence` is of the one that is tried, and so is all that follows. */
  best: string;
  fits: boolean;
  /** What its peak is made of. */
  parts: string;
  /** By PyTorch's allocator, at its peak. */
  reservedBytes: number;
  /** With the batch that is tried; `peakBytes`: of the GPU. */
  ways: { change: string; peakBytes: number; fits: boolean; largest: string }[];
  /** Paths of modules that can be checkpointed, the one with most activations first. */
  modules: string[];
  /** The run had expandable segments itself. */
  expandable: boolean;
  /** How far this is known. */
  notes: string[];
}

export interface ForecastRequests {
  forecast(query: ForecastQuery): ForecastAnswer;
  /** Gives up what is being made. */
  cancelForecast(): void;
}

/** Of a batch that is tried. */
export const MOST_FACTOR = 64;
const positive: Check<number> = (value, name) => {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  throw new Refused(`${name} must be a number above 0`);
};
const orNull =
  <T>(check: Check<T>): Check<T | null> =>
  (value, name) =>
    value === null ? null : check(value, name);

export const forecastChecks: Checks<ForecastRequests> = {
  forecast: object({
    gpuBytes: orNull(positive),
    batch: orNull(positive),
    factor: (value, name) => Math.min(positive(value, name), MOST_FACTOR),
    expandable: flag,
    checkpoint: orNull(text()),
  }),
  cancelForecast: nothing,
};
