// The messages that a page gets without a request, and when. A growing trace stands still between two pulses (`TraceSession`), so the
// answers to the requests after such a message are of one moment; the figures of the session go with those answers.
import type { SessionView, ToPage } from '../../protocol/requests/messages';

export interface ViewSource {
  /** Rises with the events; cheap. */
  revision(): number;
  view(): SessionView;
  /** Another value: it was judged anew. */
  judged(): unknown;
  /** The page will request what is new. */
  late(): void;
  /** The page shows it already. */
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
  /** Figures were sent that the page has not drawn yet. */
  private drawing = false;

  constructor(
    private readonly source: ViewSource,
    private readonly post: (message: ToPage) => void,
  ) {}

  /** The page has nothing yet. */
  begin(): void {
    this.sent = null;
    this.state = '';
    this.targetSent = this.drawing = false;
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
    if (this.sent !== null && this.sent.info !== null) this.source.late();
  }

  /** What was not sent yet goes with the answers. */
  figuresAnswered(): void {
    const known = this.source.revision() === (this.sent?.info?.revision ?? -1);
    if (known && !this.drawing) this.source.answered();
    if (known) return;
    this.drawing = true;
    this.sent = this.source.view();
    this.state = stateOf(this.sent);
    this.post({ type: 'session', session: this.sent, answers: true });
  }

  /** The page has drawn them. */
  drawn(): void {
    this.drawing = false;
    this.source.answered();
  }
}

function stateOf(view: SessionView): string {
  return JSON.stringify({ ...view, info: countOf(view) });
}

const countOf = ({ info }: SessionView): number | undefined => info?.processes.length;
