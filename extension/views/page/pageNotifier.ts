// The messages that a page gets without a request, and when. A growing trace stands still between two pulses (`TraceSession`), so the
// answers to the requests after such a message are of one moment; the figures of the session go with those answers.
import type { SessionView, ToPage } from '../../protocol/requests/messages';

export interface ViewSource {
  /** Rises with the events; cheap. */
  revision(): number;
  view(): SessionView;
  /** Another value: it was judged anew. */
  judged(): unknown;
  /** The page will request what is new, or requests it now: what is requested in this turn is of the same moment. */
  late(late: boolean): void;
  /** The page has the figures that it requested. */
  answered(): void;
}

/** A moment, two beside each other, the card of a finding, a block, or the focus. */
export type Target = Extract<ToPage, { type: 'compare' | 'finding' | 'moment' | 'block' | 'focus' }>;

export class PageNotifier {
  /** The view that was sent last. */
  private sent: SessionView | null = null;
  private state = '';
  private judged: unknown;
  /** To be shown, until a request came after it was sent: a page that comes into view is loaded anew. */
  private target: Target | null = null;
  private targetSent = false;

  constructor(
    private readonly source: ViewSource,
    private readonly post: (message: ToPage) => void,
  ) {}

  /** The page has nothing yet. */
  begin(): void {
    this.sent = null;
    this.state = '';
    this.targetSent = false;
    this.judged = this.source.judged();
    this.changed();
  }

  /** Sent after the next message. */
  queue(target: Target): void {
    this.target = target;
    this.targetSent = false;
  }

  /** The target comes behind the message that it belongs to. */
  sendTarget(): void {
    if (this.target === null || this.targetSent) return;
    this.targetSent = true;
    this.post(this.target);
  }

  /** A request of the page came. */
  acknowledged(): void {
    if (this.targetSent) this.target = null;
  }

  /** Perhaps more than figures changed: that is sent with the figures that the page has, until it requests new ones. */
  changed(): void {
    const [view, judged] = [this.source.view(), this.source.judged()];
    const state = stateOf(view);
    if (judged !== this.judged) {
      this.judged = judged;
      this.markLate();
      this.post({ type: 'judged' });
    }
    if (state === this.state) return this.events();
    const { sent } = this;
    const known = sent !== null && view.id === sent.id && countOf(view) === countOf(sent);
    this.sent = known ? { ...view, info: sent.info } : view;
    this.state = state;
    this.post({ type: 'session', session: this.sent });
  }

  /** Events came, or something else that the page has to request. */
  events(): void {
    this.markLate();
    this.post({ type: 'changed', revision: this.source.revision() });
  }

  private markLate(): void {
    this.source.late(this.sent !== null && this.sent.info !== null);
  }

  figuresRequested(): void {
    this.source.late(false);
  }

  /** What was not sent yet goes with the answers. */
  figuresAnswered(): void {
    this.source.answered();
    if (this.source.revision() === (this.sent?.info?.revision ?? -1)) return;
    this.sent = this.source.view();
    this.state = stateOf(this.sent);
    this.post({ type: 'session', session: this.sent, answers: true });
  }
}

function stateOf(view: SessionView): string {
  return JSON.stringify({ ...view, info: countOf(view) });
}

const countOf = ({ info }: SessionView): number | undefined => info?.processes.length;
