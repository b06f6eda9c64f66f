import type { Requests } from '../../../protocol/requests/messages';

/** For each request its answer, or a promise of it; a rejection is a sentence for the page. */
export type Answers<R = Requests> = {
  [M in keyof R]: R[M] extends (params: infer P) => infer Result ? (params: P) => Result | Promise<Result> : never;
};
