import type { Translate } from './format';

/** The sentence for a job in which no rank differs and no rank leaks. */
export const nothingText = (ranks: number, t: Translate): string =>
  ranks > 1 ? t('No rank stands out from its equals, and no leak was found.') : t('No leak was found.');
