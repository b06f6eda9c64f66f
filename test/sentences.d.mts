import type { TestContext, TestOptions } from 'node:test';
import type { Sentences } from './keptSentences.mjs';

type Body = (t: TestContext) => void | Promise<void>;

/** Of the tests in `file`, which is `__filename`. */
export declare function sentencesOf(
  file: string,
): Sentences<{ (name: string, body: Body): void; (name: string, options: TestOptions, body: Body): void }>;

/** The lines of a text that match, as one sentence. */
export declare function linesOf(text: string, pattern: RegExp): string;
