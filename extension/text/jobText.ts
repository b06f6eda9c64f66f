import type { Translate } from './format';

/** What is said where no rank differs and none leaks. */
export const nothingText = (ranks: number, t: Translate): string =>
  ranks > 1 ? t('No rank stands out from its equals, and no leak was found.') : t('No leak was found.');
