// What can be typed into the filter: words that must all match, and bounds. The trace's model reads them in the same way.
import { t } from '@vscode/l10n';

export const FILTER_HINT = t('Words in file, function, thread or name · >10MB <1GB · age>5steps');

const NUMBER = '\\d+(?:\\.\\d*)?|\\.\\d+';
const BYTES = new RegExp(`^(?:${NUMBER})(?:[kmgt]i?b?|b)?$`, 'i');
const AGE = new RegExp(`^(?:${NUMBER})(?:steps?)?$`, 'i');

/** One sentence on the first word that is no bound but looks like one; '' where all is well. */
export function filterProblem(text: string): string {
  for (const word of text.trim().split(/\s+/)) {
    const problem = wordProblem(word);
    if (problem) return problem;
  }
  return '';
}

function wordProblem(word: string): string {
  const bound = /^(age)?([<>]=?)(.*)$/i.exec(word);
  if (!bound) return '';
  const [, age, , amount = ''] = bound;
  if (age) return AGE.test(amount) ? '' : t('{0}: an age is a number of steps, as in age>5steps.', word);
  return BYTES.test(amount) ? '' : t('{0}: a size is a number with a unit, as in >10MB.', word);
}
