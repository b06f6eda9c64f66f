// The table "Alive by line": a grid of virtual rows whose data is asked for only where it is seen.
import type { ProcessInfo, SiteSort, SiteWindow } from '../../extension/protocol/trace';
import { el, setAttribute, setText, type Frames } from '../dom';
import { COLUMNS, GROUP_NAMES } from './columns';
import { rowAt, rowKey, type Row } from './rows';
import { RowView } from './rowView';
import type { ViewState } from './state';
import { VirtualRows } from './virtualRows';

export interface TableActions {
  sort(by: SiteSort): void;
  /** Click or Enter. */
  open(row: Row): void;
  /** Another row is the active one, or none. */
  select(row: Row | null): void;
  /** The active row has new figures. */
  refresh(row: Row): void;
  /** Rows came into view whose data is not here. */
  need(): void;
}

const WIDE_PX = 640;
const PENDING = '?'; // the active row's data is on its way
const ROW_PX = { wide: 24, narrow: 38 };

export class TableView {
  readonly element: HTMLElement;
  private readonly body = el('div', { class: 'rows', role: 'rowgroup' });
  private readonly scroller = el('div', { class: 'scroller' }, this.body);
  private readonly empty = el('p', { class: 'none dim', role: 'status' });
  private readonly headers = new Map<SiteSort, HTMLElement>();
  private readonly siteTitle = el('span', {});
  private readonly head: HTMLElement;
  private readonly virtual: VirtualRows;
  private readonly shown = new Map<number, RowView>();
  private readonly spare: RowView[] = [];
  private window: SiteWindow | null = null;
  private from = 0;
  private total = 0;
  private fullBytes = 0;
  private rowPx = ROW_PX.narrow;
  private active: { index: number; key: string } | null = null;
  private openedKey: string | null = null;
  private view: ViewState | null = null;
  private processes: readonly ProcessInfo[] = [];

  constructor(
    private readonly frames: Frames,
    private readonly actions: TableActions,
  ) {
    const label = 'Live allocations. Enter opens the line.';
    this.element = el('div', { class: 'grid', role: 'grid', tabindex: 0, 'aria-label': label });
    this.element.setAttribute('aria-colcount', String(COLUMNS.length));
    this.head = this.headerRow();
    this.element.append(el('div', { role: 'rowgroup' }, this.head), this.scroller, this.empty);
    this.virtual = new VirtualRows(this.scroller, this.rowPx, () => this.frames.add(this.draw));
    this.body.addEventListener('click', event => this.onClick(event));
    this.element.addEventListener('keydown', event => this.onKey(event));
    new ResizeObserver(([entry]) => entry && this.onWidth(entry.contentRect.width)).observe(this.element);
  }

  /** Rows to ask for: those in view and a page around them. */
  wanted(): { from: number; to: number } {
    const rows = this.virtual.visible();
    const margin = this.virtual.pageRows;
    const from = Math.max(0, (rows[0]?.index ?? 0) - margin);
    return { from, to: Math.max((rows[rows.length - 1]?.index ?? 0) + margin, from + 2 * margin) + 1 };
  }

  /** Another question: what is here belongs to the old one. */
  reset(keepActive: boolean): void {
    this.fullBytes = 0;
    if (!keepActive) this.select(null);
    this.scroller.scrollTop = 0;
  }

  update(view: ViewState, processes: readonly ProcessInfo[], devices: number): void {
    this.view = view;
    this.processes = processes;
    this.element.classList.toggle('one-device', devices <= 1);
    for (const [sort, header] of this.headers) {
      const order = view.descending ? 'descending' : 'ascending';
      setAttribute(header, 'aria-sort', sort === view.sort ? order : 'none');
    }
    setText(this.siteTitle, GROUP_NAMES[view.groupBy]);
    this.frames.add(this.draw);
  }

  setWindow(window: SiteWindow, from: number): void {
    this.window = window;
    this.from = from;
    this.total = window.total;
    for (const bytes of window.liveBytes) if (bytes > this.fullBytes) this.fullBytes = bytes;
    this.followActive();
    setAttribute(this.element, 'aria-rowcount', String(window.total + 1));
    this.frames.add(this.draw);
  }

  /** What stands where rows would be; '' while there are rows. */
  setEmptyText(text: string): void {
    setText(this.empty, text);
    this.empty.hidden = text === '';
  }

  /** Another trace: no rows until its first answer. */
  forget(): void {
    this.reset(false);
    this.window = null;
    this.total = 0;
    this.setOpened(null);
  }

  /** Nothing is selected any more. */
  clear(): void {
    this.select(null);
  }

  revealActive(): void {
    if (this.active) this.virtual.reveal(this.active.index);
  }

  setOpened(row: Row | null): void {
    this.openedKey = row?.key ?? null;
    this.frames.add(this.draw);
  }

  private readonly draw = (): void => {
    this.virtual.resize(this.total, this.rowPx);
    this.body.style.height = `${this.virtual.totalHeight}px`;
    const visible = this.virtual.visible();
    const indices = new Set(visible.map(row => row.index));
    for (const [index, view] of this.shown) if (!indices.has(index)) this.release(index, view);
    let missing = false;
    let activeId = '';
    for (const { index, top } of visible) {
      const row = this.row(index);
      missing ||= row === null;
      const active = this.active !== null && (row ? row.key === this.active.key : index === this.active.index);
      if (active) activeId = `row-${index}`;
      const opened = row !== null && row.key === this.openedKey;
      this.take(index).update(index, top, row, { active, opened, fullBytes: this.fullBytes });
    }
    for (const view of this.spare) view.element.remove();
    setAttribute(this.element, 'aria-activedescendant', activeId);
    if (missing) this.actions.need();
  };

  private row(index: number): Row | null {
    const i = index - this.from;
    if (!this.window || !this.view || i < 0 || i >= this.window.rows) return null;
    return rowAt(this.window, i, this.view.groupBy, this.processes);
  }

  private take(index: number): RowView {
    const shown = this.shown.get(index);
    if (shown) return shown;
    const view = this.spare.pop() ?? new RowView();
    this.shown.set(index, view);
    if (!view.element.isConnected) this.body.append(view.element);
    return view;
  }

  private release(index: number, view: RowView): void {
    this.shown.delete(index);
    this.spare.push(view); // stays in the page: most are taken again in the same frame
  }

  /** Rows move while the program runs: the active one is the same group, wherever it went. */
  private followActive(): void {
    const { active, window, view } = this;
    if (!active || !window || !view) return;
    if (active.key === PENDING) {
      const row = this.row(active.index);
      if (row) this.select(row, active.index);
      return;
    }
    for (let i = 0; i < window.rows; i++) {
      if (rowKey(window, i, view.groupBy) !== active.key) continue;
      active.index = this.from + i;
      return this.actions.refresh(this.row(active.index)!);
    }
    if (this.total === 0) this.select(null);
  }

  private select(row: Row | null, index = -1): void {
    const before = this.active?.key ?? null;
    this.active = row ? { index, key: row.key } : null;
    this.frames.add(this.draw);
    if ((row?.key ?? null) !== before) this.actions.select(row);
  }

  private activate(index: number): void {
    const row = this.row(index);
    if (!row) return;
    this.select(row, index);
    this.actions.open(row);
  }

  private moveTo(index: number): void {
    const target = Math.min(Math.max(index, 0), this.total - 1);
    if (target < 0) return;
    this.virtual.reveal(target);
    const row = this.row(target);
    if (row) this.select(row, target);
    else this.active = { index: target, key: PENDING };
    this.frames.add(this.draw);
  }

  private onClick(event: MouseEvent): void {
    const row = (event.target as Element).closest('[data-row]');
    if (row) this.activate(Number(row.getAttribute('data-row')));
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.element) return;
    const at = this.active?.index ?? -1;
    const page = this.virtual.pageRows;
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: Math.max(at, 1) - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: this.total - 1,
    };
    const target = moves[event.key];
    if (target !== undefined) this.moveTo(target);
    else if (event.key === 'Enter' && at >= 0) this.activate(at);
    else return;
    event.preventDefault();
  }

  private onWidth(width: number): void {
    const wide = width >= WIDE_PX;
    this.element.classList.toggle('wide', wide);
    this.rowPx = wide ? ROW_PX.wide : ROW_PX.narrow;
    const scrollbar = this.scroller.offsetWidth - this.scroller.clientWidth;
    this.head.style.setProperty('--gm-scrollbar', `${scrollbar}px`);
    this.frames.add(this.draw);
  }

  private headerRow(): HTMLElement {
    const cells = COLUMNS.map((column, i) => {
      const attributes = { role: 'columnheader', 'data-column': column.id, 'aria-colindex': i + 1, title: column.hint };
      const header = el('div', attributes);
      const title = column.id === 'site' ? this.siteTitle : el('span', {}, column.title);
      const { sort } = column;
      if (sort === null) {
        header.append(title);
        return header;
      }
      const button = el('button', { type: 'button', class: 'sort', 'data-sort': sort }, title);
      button.append(el('span', { class: 'sort-arrow', 'aria-hidden': 'true' }));
      button.addEventListener('click', () => this.actions.sort(sort));
      header.append(button);
      this.headers.set(sort, header);
      return header;
    });
    return el('div', { role: 'row', class: 'row head', 'aria-rowindex': 1 }, ...cells);
  }
}
