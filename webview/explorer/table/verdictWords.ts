// What a state of a line is called in the table. Only growth is alarming; all else is grey.
import { t } from '@vscode/l10n';
import type { SiteState } from '../../../extension/protocol/verdicts';

/** The part of a verdict that a row shows. */
export interface Judged {
  state: SiteState;
  /** One sentence on why. */
  because: string;
  bytesPerStep: number;
}

/** Empty: not worth a word. */
export const STATE_WORDS: Record<SiteState, string> = {
  growing: t('growing'),
  sawtooth: t('bounded'),
  plateau: t('warm-up'),
  'one-shot': t('once'),
  transient: t('per step'),
  cycle: t('cycles'),
  anomaly: t('outlier'),
  cache: t('cache'),
  'before-attach': t('before attach'),
  unknown: '',
};
