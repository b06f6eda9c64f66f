import type { Translate } from './format';

/** The sentence for a job in which no rank differs and no rank leaks. */
export const nothingText = (ranks: number, t: Translate): string =>
  ranks > 1 ? t('No outlier ranks and no leaks were found.') : t('No leak was found.');
