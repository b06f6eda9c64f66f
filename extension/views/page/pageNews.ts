// What a page is told of its own accord, and when. A trace that grows stands still between two pulses (`TraceSession`), so what a
// page asks for when it is told of one is of one moment; the figures of the session go with those answers.
import type { SessionView, ToPage } from '../../protocol/requests/messages';

export interface NewsSource {
  /** Rises with the events; cheap. */
  revision(): number;
  view(): SessionView;
  /** The page will ask for what is new, or has asked. */
  late(late: boolean): void;
}

/** A moment, two beside each other, the card of a finding, a block, or the focus. */
export type Wanted = Extract<ToPage, { type: 'compare' | 'finding' | 'moment' | 'block' | 'focus' }>;

export class PageNews {
  /** The view as it was told last. */
  private told: SessionView | null = null;
  private state = '';
  /** What is to be seen, until the page has said something since it was told: one that comes into view is loaded anew. */
  private wanted: Wanted | null = null;
  private toldWanted = false;

  constructor(
    private readonly source: NewsSource,
    private readonly post: (message: ToPage) => void,
  ) {}

  /** The page knows nothing yet. */
  begin(): void {
    this.told = null;
    this.state = '';
    this.toldWanted = false;
    this.changed();
  }

  /** Told with the next news. */
  want(wanted: Wanted): void {
    this.wanted = wanted;
    this.toldWanted = false;
  }

  /** What is wanted comes behind the news that it belongs to. */
  tellWanted(): void {
    if (this.wanted === null || this.toldWanted) return;
    this.toldWanted = true;
    this.post(this.wanted);
  }

  /** The page asks for something. */
  heard(): void {
    if (this.toldWanted) this.wanted = null;
  }

  /** Perhaps more than figures changed: that is told with the figures that the page has, until it asks for new ones. */
  changed(): void {
    const view = this.source.view();
    const state = stateOf(view);
    if (state === this.state) return this.events();
    const { told } = this;
    const known = told !== null && view.id === told.id && countOf(view) === countOf(told);
    this.told = known ? { ...view, info: told.info } : view;
    this.state = state;
    this.post({ type: 'session', session: this.told });
  }

  /** Events came, or something else that the page has to ask for. */
  events(): void {
    this.source.late(this.told !== null && this.told.info !== null);
    this.post({ type: 'changed', revision: this.source.revision() });
  }

  /** The page asks: what it was not told of goes with the answers. */
  asked(): void {
    this.source.late(false);
    if (this.source.revision() === (this.told?.info?.revision ?? -1)) return;
    this.told = this.source.view();
    this.state = stateOf(this.told);
    this.post({ type: 'session', session: this.told, answers: true });
  }
}

function stateOf(view: SessionView): string {
  return JSON.stringify({ ...view, info: countOf(view) });
}

const countOf = ({ info }: SessionView): number | undefined => info?.processes.length;
