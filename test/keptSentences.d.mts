export interface Sentences<Define> {
  /** The definition that was given; each test that it defines has its sentences. */
  test: Define;
  /** The next sentence of the test that runs; `why` it is that one. */
  assertSentence(actual: string | null | undefined, why?: string): void;
  /** The same for the message of what is thrown. */
  assertThrows(run: () => unknown): void;
  assertRejects(promise: Promise<unknown>): Promise<void>;
}

/** `file`: path of the tests' file (`__filename`), bundled or not. `define(name, …, body)`: defines a test. */
export declare function keptSentences<Define>(file: string, define: Define): Sentences<Define>;
