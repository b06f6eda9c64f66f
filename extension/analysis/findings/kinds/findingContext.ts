// What a finding is worked out from.
import type { MemorySnapshot, StepAxis, TraceSource } from '../../../protocol/trace';
import type { Ledger } from '../../../protocol/verdicts';
import type { HolderAnswer } from './holderAnswers';

/** Source text of a line (from 1), null where it cannot be read. */
export type LineText = (file: string, line: number) => string | null;

export interface FindingContext {
  source: TraceSource;
  axis: StepAxis;
  answers: readonly HolderAnswer[];
  /** See the function of this name. */
  unusedPinnedGrowth: number;
  ledgers: readonly Ledger[];
  lineText: LineText;
}

/** Of one finding; `failed`: the moment of its figures, see `failureOf`. */
export interface FailedContext extends FindingContext {
  failed: MemorySnapshot | null;
}
