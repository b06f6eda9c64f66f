// Sentences of tests in the extension host.
import { keptSentences } from '../keptSentences.mjs';

type Body = (this: Mocha.Context) => void | Promise<void>;
type Define = (name: string, body: Body) => unknown;

/** Of the tests in `file`, which is `__filename`: mocha's `it` for those that have sentences. */
export function sentencesOf(file: string) {
  const { test, ...sentences } = keptSentences<Define>(file, (name, body) => it(name, body));
  return { it: test, ...sentences };
}
