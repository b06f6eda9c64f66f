// What a state of a line is called in the table. Only growth is alarming; all else is grey.
import type { SiteState } from '../../extension/protocol/verdicts';

/** The part of a verdict that a row shows. */
export interface Judged {
  state: SiteState;
  /** One sentence on why. */
  because: string;
  bytesPerStep: number;
}

/** Empty: not worth a word. */
export const STATE_WORDS: Record<SiteState, string> = {
  growing: 'growing',
  sawtooth: 'bounded',
  plateau: 'warm-up',
  'one-shot': 'once',
  transient: 'per step',
  cycle: 'cycles',
  anomaly: 'outlier',
  cache: 'cache',
  'before-attach': 'before attach',
  unknown: '',
};
