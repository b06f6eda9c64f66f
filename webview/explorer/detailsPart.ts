// The pane beside the table: the stack of the selected row.
import type { PageActions, Part } from './part';
import { NOW } from '../../extension/protocol/moment';
import { DetailsView } from './detailsView';
import { Poller } from './poller';
import type { Row } from './rows';

export class DetailsPart implements Part {
  private readonly view: DetailsView;
  private readonly poller = new Poller(() => this.ask());
  private row: Row | null = null;

  constructor(
    private readonly page: PageActions,
    actions: { close(): void; appeared(): void },
  ) {
    this.view = new DetailsView({ openLine: (file, line) => page.openLine(file, line), ...actions });
  }

  get element(): HTMLElement {
    return this.view.element;
  }

  /** Another row is selected, the same one has new figures, or none is. */
  select(row: Row | null): void {
    const another = row?.key !== this.row?.key;
    this.row = row;
    if (!row) return this.view.hide();
    this.view.begin(row);
    if (another) this.poller.invalidate(true);
  }

  update(): void {
    // Its row tells what is new.
  }

  invalidate(): void {
    this.poller.invalidate();
  }

  wake(): void {
    this.poller.wake();
  }

  changed(): void {
    // The table selects anew.
  }

  forget(): void {
    this.select(null);
  }

  private async ask(): Promise<void> {
    const { row } = this;
    if (!row) return;
    const moment = this.page.now()?.view.moment ?? NOW;
    const site = await this.page.ask('site', { id: row.id, moment });
    if (site !== undefined && this.row?.key === row.key) this.view.show(site);
  }
}
