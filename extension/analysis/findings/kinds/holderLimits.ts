import type { Fields } from '../../../base/fields';
import type { FindingHolder } from '../../../protocol/verdicts';

// What may bound a holder, by the text of its program, as the agent answers it.

/** As the agent writes them, but for `none`. */
const LIMITING = ['joins', 'length', 'removes'] as const;
const LIMITS = ['maybe', 'shrinks', 'anew'] as const;

/** Empty where an answer has none, or a damaged one. */
export const readLimit = ({ limit, limitAt }: Fields): Pick<FindingHolder, 'limit' | 'limitAt'> => ({
  ...limitOf(limit),
  ...limitAtOf(limitAt),
});

/** By the text of the program; one entry a key proves nothing: there may be few keys. */
function limitOf(limit: unknown): Pick<FindingHolder, 'limit'> {
  const known = LIMITS.find(one => one === limit);
  return limit === null ? { limit: 'none' } : known === undefined ? {} : { limit: known };
}

function limitAtOf(at: unknown): Pick<FindingHolder, 'limitAt'> {
  const [file, given, line]: unknown[] = Array.isArray(at) ? at : [];
  const how = LIMITING.find(one => one === given);
  if (how === undefined || typeof file !== 'string' || typeof line !== 'number') return {};
  return { limitAt: { how, file, line } };
}
