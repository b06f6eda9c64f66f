import { formatCount } from './format';
import type { FindingHolder } from './verdicts';

type Translate = (text: string, ...values: string[]) => string;

/** `It holds 20 of 60 blocks; other holders: 2.`; null: it holds all. */
export function shareText({ share }: FindingHolder, t: Translate): string | null {
  if (share === undefined) return null;
  const [blocks, of] = [formatCount(share.blocks), formatCount(share.of)];
  if (share.others === 0) return t('It holds {0} of {1} blocks; who holds the others is not known.', blocks, of);
  return t('It holds {0} of {1} blocks; other holders: {2}.', blocks, of, formatCount(share.others));
}
