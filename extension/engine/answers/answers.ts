import type { OtherTrace, PageRequests } from '../../protocol/requests/engineRequests';
import type { FollowedTrace } from '../followedTrace';

/** For each request its answer, or a promise of it; a rejection is a sentence for the page. */
export type Answers<R = PageRequests> = {
  [M in keyof R]: R[M] extends (params: infer P) => infer Result ? (params: P) => Result | Promise<Result> : never;
};

/** A trace of the window, by its number; 0: the one that the page shows. */
export interface NamedTrace extends Omit<OtherTrace, 'trace'> {
  id: number;
  trace: FollowedTrace;
}

/** What a page shows at its request. */
export interface PageModel {
  readonly shown: FollowedTrace;
  /** All that can be compared, the shown one first. */
  traces(): Promise<NamedTrace[]>;
}
