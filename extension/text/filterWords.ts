// What can be typed as a filter: words that must all match, and bounds. The trace's model reads them in the same way.
import type { Translate } from './format';

const NUMBER = '\\d+(?:\\.\\d*)?|\\.\\d+';
const BYTES = new RegExp(`^(?:${NUMBER})(?:[kmgt]i?b?|b)?$`, 'i');
const AGE = new RegExp(`^(?:${NUMBER})(?:steps?)?$`, 'i');

/** One sentence on the first word that is no bound but resembles one; '' where all is well. */
export function filterProblem(text: string, t: Translate): string {
  for (const word of text.trim().split(/\s+/)) {
    const [, name, amount = ''] = /^(\w*)[<>]=?(.*)$/.exec(word) ?? [];
    const [isSize, isAge] = [BYTES.test(amount), /^age$/i.test(name ?? '')];
    if (isAge && !AGE.test(amount)) return t('{0}: an age is a number of steps, as in age>5steps.', word);
    if (name === '' && !isSize) return t('{0}: a size is a number with a unit, as in >10MB.', word);
    if (name && !isAge && isSize) return t('{0}: a size has no name before it, as in >10MB.', word);
  }
  return '';
}
