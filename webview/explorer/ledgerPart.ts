// The bars of the cards with their data.
import { LedgerView } from './ledgerView';
import type { PageActions, Part } from './part';
import { Poller } from './poller';

const INTERVAL_MS = 300;

export class LedgerPart implements Part {
  private readonly view: LedgerView;
  private readonly poller = new Poller(() => this.ask(), INTERVAL_MS);

  constructor(private readonly page: PageActions) {
    this.view = new LedgerView((file, line) => page.openLine(file, line));
  }

  get element(): HTMLElement {
    return this.view.element;
  }

  update(): void {
    // Its figures are asked for.
  }

  invalidate(): void {
    this.poller.invalidate();
  }

  wake(): void {
    this.poller.wake();
  }

  changed(): void {
    // Nothing that is chosen changes the cards.
  }

  forget(): void {
    this.view.update([]);
  }

  private async ask(): Promise<void> {
    const before = this.page.now();
    if (!before) return;
    const cards = await this.page.ask('ledger', undefined);
    const sameTrace = this.page.now()?.info.startRealtimeMs === before.info.startRealtimeMs;
    if (cards && sameTrace) this.view.update(cards);
  }
}
