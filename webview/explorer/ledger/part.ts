// The bars of the cards with their data.
import type { CardLedger } from '../../../extension/protocol/requests/ledgerRequests';
import { LedgerView } from './view';
import { PolledPart, type PageActions } from '../shell/part';
import { Poller } from '../shell/poller';
import { ALL } from '../shell/state';

const INTERVAL_MS = 500;

export class LedgerPart extends PolledPart {
  private readonly view: LedgerView;
  private cards: readonly CardLedger[] = [];
  protected readonly poller = new Poller(() => this.ask(), INTERVAL_MS);

  constructor(private readonly page: PageActions) {
    super();
    this.view = new LedgerView((file, line) => page.openLine(file, line));
  }

  get element(): HTMLElement {
    return this.view.element;
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

  private async ask(): Promise<void> {
    const before = this.page.now();
    if (!before) return;
    const cards = await this.page.ask('ledger', undefined);
    const sameTrace = this.page.now()?.info.startRealtimeMs === before.info.startRealtimeMs;
    if (!cards || !sameTrace) return;
    this.cards = cards;
    this.draw();
  }
}
