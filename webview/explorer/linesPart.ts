// The table of what is alive, with its heading, filter and selectors.
import { el, type Frames } from '../dom';
import type { PageActions, PageContext, Part } from './part';
import { Poller } from './poller';
import type { Row } from './rows';
import type { Action, ViewState } from './state';
import { TableView } from './tableView';
import { Toolbar } from './toolbar';

/** What decides which rows there are, and their order. */
const questionOf = ({ view, layer }: PageContext) => {
  const { groupBy, sort, descending, filter, process, device, moment } = view;
  return { layer, groupBy, sort, descending, filter, process, device, moment };
};

export class LinesPart implements Part {
  readonly element: HTMLElement;
  private readonly toolbar: Toolbar;
  private readonly table: TableView;
  private readonly poller = new Poller(() => this.ask());

  constructor(
    frames: Frames,
    private readonly page: PageActions,
    view: ViewState,
  ) {
    this.toolbar = new Toolbar(view.filter, {
      filter: filter => page.dispatch({ type: 'filter', filter }),
      group: groupBy => page.dispatch({ type: 'group', groupBy }),
      layer: layer => page.dispatch({ type: 'layer', layer }),
    });
    this.table = new TableView(frames, {
      sort: sort => page.dispatch({ type: 'sort', sort }),
      open: row => this.open(row),
      select: row => page.select(row),
      refresh: row => page.select(row),
      need: () => this.poller.invalidate(true),
    });
    this.element = el('div', { class: 'list' }, this.toolbar.element, this.table.element);
  }

  update({ view, layer, info }: PageContext): void {
    this.toolbar.update(view, layer);
    this.table.update(view, info.processes, info.devices.length);
  }

  invalidate(): void {
    this.poller.invalidate();
  }

  wake(): void {
    this.poller.wake();
  }

  changed(action: Action): void {
    if (['series', 'zoom', 'tab', 'flame', 'stack', 'axis', 'compare'].includes(action.type)) return;
    this.table.reset(action.type === 'sort');
    this.poller.invalidate(true);
  }

  forget(): void {
    this.table.forget();
  }

  /** No row is selected any more. */
  clear(): void {
    this.table.clear();
  }

  revealActive(): void {
    this.table.revealActive();
  }

  private open(row: Row): void {
    if (row.line === 0) return;
    this.table.setOpened(row);
    this.page.openLine(row.file, row.line);
  }

  private async ask(): Promise<void> {
    const context = this.page.now();
    if (!context) return;
    const question = questionOf(context);
    const { from, to } = this.table.wanted();
    const window = await this.page.ask('sites', { ...question, from, to });
    const after = this.page.now();
    if (!window || !after || JSON.stringify(questionOf(after)) !== JSON.stringify(question)) return;
    this.table.setWindow(window, from);
    this.toolbar.setSums(window, question.groupBy);
    const none = question.filter ? 'No row matches the filter.' : 'Nothing is alive in this layer.';
    this.table.setEmptyText(window.total > 0 ? '' : none);
  }
}
