// When a recorded answer on holders was found, and of how many blocks it is.
import { t } from '@vscode/l10n';
import { formatCount } from '../../../text/format';
import { blocksText } from '../../words';
import { blocksOf, NO_HOLDER, type NamedHolders } from './holderAnswers';

/** When a recorded answer was found; and of how many blocks, where these are not the `count` that stands beside it. */
export function occasionText(named: NamedHolders, count: number): string {
  const found = blocksOf(named.holders);
  if (found === count) return momentText(named);
  return named.answer.when === 'asked' && found < count
    ? `${momentText(named)} ${t('The counts and sizes are those of a sample of {0}.', blocksText(found))}`
    : `${momentText(named)} ${t('The search checked {0}.', blocksText(found))}`;
}

/** A sentence; also on what could not be found any more. */
function momentText({ answer: { when, step }, holders }: NamedHolders): string {
  switch (when) {
    case 'exit':
      return holders.some(({ kind }) => NO_HOLDER.has(kind))
        ? t('Found when the program ended; local variables of functions no longer existed then.')
        : t('Found when the program ended.');
    case 'step':
      return t('Found after step {0}.', formatCount(step));
    case 'asked':
      return t('Found while the program was running.');
  }
}
