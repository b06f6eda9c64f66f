// Sentences of tests of node:test.
import { test } from 'node:test';
import { keptSentences } from './keptSentences.mjs';

export const sentencesOf = file => keptSentences(file, test);

/** The lines of a text that match, as one sentence. */
export const linesOf = (text, pattern) =>
  text
    .split('\n')
    .filter(line => pattern.test(line))
    .join('\n');
