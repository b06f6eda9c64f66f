// The bars of the cards with their data.
import type { CardLedger } from '../../../extension/protocol/requests/ledgerRequests';
import { LedgerView } from './ledgerView';
import { PolledPart, type PageActions } from '../state/part';
import { FIGURES_MS } from '../state/poller';
import { ALL } from '../state/state';

export class LedgerPart extends PolledPart {
  private readonly view = new LedgerView(this.page.openLine);
  readonly element = this.view.element;
  readonly legend = this.view.legend;
  private cards: readonly CardLedger[] = [];

  constructor(page: PageActions) {
    super(page, FIGURES_MS, ['moment']);
  }

  override update(): void {
    this.draw();
  }

  forget(): void {
    this.cards = [];
    this.draw();
  }

  private draw(): void {
    const chosen = this.page.now()?.view.device ?? ALL;
    this.view.update(this.cards.filter(card => chosen === ALL || card.device === chosen));
  }

  protected async load(): Promise<void> {
    const before = this.page.now();
    if (!before) return;
    const { moment } = before.view;
    const cards = await this.page.request('ledger', { moment });
    const sameTrace = this.page.now()?.info.startRealtimeMs === before.info.startRealtimeMs;
    if (!cards || !sameTrace || this.page.now()?.view.moment !== moment) return;
    this.cards = cards;
    this.draw();
  }
}
