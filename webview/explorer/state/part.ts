// What the page is made of: parts that are shown one below the other, or as tabs.
import type { Method, Params, Result, SessionView } from '../../../extension/protocol/requests/messages';
import type { Layer, TraceInfo } from '../../../extension/protocol/trace';
import type { OpenLine } from '../common/lineLink';
import type { Moment } from '../../../extension/protocol/requests/moment';
import type { Block } from '../common/blockRow';
import type { Row } from '../common/rows';
import type { Action, ViewState } from './state';
import { Poller, whileShown } from './poller';
import type { Subject } from './subject';

/** What the details of a row begin with. */
export type DetailsSection = 'stack' | 'frees';

/** What all parts are drawn from. */
export interface PageContext {
  session: SessionView;
  info: TraceInfo;
  view: ViewState;
  /** The layer whose rows are shown. */
  layer: Layer;
  /** Time since the run began, ns; continues between two batches of events. */
  runNs: number;
}

/** What a part may do to the rest. */
export interface PageActions {
  /** The host's answer, or undefined after its failure was shown. */
  request<M extends Method>(method: M, params: Params<M>): Promise<Result<M> | undefined>;
  dispatch(action: Action): void;
  readonly openLine: OpenLine;
  /** A row is the selected one, or none is; `section`: its details are to show that. */
  select(row: Row | null, section?: DetailsSection): void;
  /** Whether details stand beside the table; else they take its place. */
  hasRoomBeside(): boolean;
  /** Shows details of what is no row of the table; `block`: of one of its blocks. */
  show(subject: Subject, block?: Block): void;
  /** The state as it is at this moment; null without a trace. */
  now(): PageContext | null;
}

export interface Part {
  readonly element: HTMLElement;
  /** The moment of what it shows; absent: it shows nothing yet, or names its moment itself. */
  readonly drawn?: Moment;
  /** Draws the state; called at most once a frame, and only while there is a trace. A tab: only while it is shown. */
  update(context: PageContext): void;
  /** Events arrived: what is shown is to be requested again (through a Poller). A tab: only while it is shown. */
  invalidate(): void;
  /** The view state changed by this action. */
  changed(action: Action): void;
  /** Another trace: nothing of the old one stays. */
  forget(): void;
}

/** A part that loads all that it shows at once. */
export abstract class PolledPart implements Part {
  abstract readonly element: HTMLElement;
  protected readonly poller: Poller;

  /** @param reloadOn changes by the user that make another question @param tab it loads only while it is shown */
  constructor(
    protected readonly page: PageActions,
    intervalMs: number,
    private readonly reloadOn: readonly Action['type'][] = [],
    tab = false,
  ) {
    this.poller = new Poller(() => this.load(), intervalMs, tab ? whileShown(() => this.element) : undefined);
  }

  update(_context: PageContext): void {
    // What is drawn comes with the answers.
  }

  invalidate(): void {
    this.poller.invalidate();
  }

  changed(action: Action): void {
    if (this.reloadOn.includes(action.type)) this.poller.invalidate(true);
  }

  abstract forget(): void;
  /** One question, and what is done with its answer. */
  protected abstract load(): Promise<void>;
}
