// A grid of virtual rows: a list or a tree, by mouse and keyboard, with several rows selected at a time.
import { t } from '@vscode/l10n';
import type { SiteSort } from '../../../extension/protocol/trace';
import { el, onFrame, setAttribute } from '../../dom';
import { chosenColumns, DEFAULT_CHOICE, type Choice, type Several } from '../common/columns';
import { LEAST_SCROLLBAR_PX, layoutOf, ROW_PX, type Layout } from './tableLayout';
import type { Row } from '../common/rows';
import type { RowSource } from './rowSource';
import { RowView } from './rowView';
import { Selection } from './selection';
import type { ViewState } from '../state/state';
import { TableHead } from './head';
import { onLinesNamed } from '../common/hues';
import { focusAfter, rowMove, type RowFocus } from '../common/rowKeys';
import { VirtualRows } from '../common/virtualRows';

export interface TableActions {
  sort(by: SiteSort): void;
  /** Click or Enter. */
  open(row: Row, focus?: RowFocus): void;
  /** Its details are to be seen. */
  details(row: Row): void;
  /** Another row is the active one, or it has new figures; null: none is. */
  select(row: Row | null): void;
  /** Other rows are selected. */
  selected(): void;
  /** Rows came into view whose data is not here. */
  need(): void;
  /** The menu of the selected rows is to open at a place of the page; null: that of the columns. */
  menu(row: Row | null, at: { x: number; y: number }): void;
  copy(): void;
  expand(row: Row, open: boolean): void;
  /** Where the caller of the row at this place stands; -1: it has none. */
  parentOf(index: number): number;
}

const FEWEST_ROWS = 5;
const PENDING = '?'; // the active row's data is on its way

export class TableView {
  readonly element: HTMLElement;
  readonly selection = new Selection();
  private readonly body = el('div', { class: 'rows', role: 'rowgroup' });
  private readonly scroller = el('div', { class: 'scroller' }, this.body);
  /** What stands where rows would be. */
  readonly empty = el('p', { class: 'none dim', role: 'status' });
  readonly head: TableHead;
  private readonly virtual: VirtualRows;
  private readonly shown = new Map<number, RowView>();
  private readonly spare: RowView[] = [];
  private layout: Layout = layoutOf([], 0, true);
  private view: ViewState | null = null;
  private several: Several = { devices: 1, threads: 1, stepPx: 0, grew: false, oneFile: '' };
  private widthPx = 0;
  private keptRows = 0;
  private openedKey: string | null = null;

  constructor(
    private source: RowSource,
    private readonly actions: TableActions,
  ) {
    this.element = el('div', { class: 'grid', role: 'grid', tabindex: 0, 'aria-multiselectable': 'true' });
    this.head = new TableHead(by => actions.sort(by));
    this.element.append(this.head.element, this.scroller, this.empty);
    onLinesNamed(() => onFrame(this.draw));
    this.virtual = new VirtualRows(this.scroller, ROW_PX, () => onFrame(this.draw));
    this.scroller.addEventListener('scroll', () => this.followSideways());
    this.body.addEventListener('click', event => this.onClick(event));
    this.body.addEventListener('mousedown', event => event.shiftKey && event.preventDefault()); // selects no text
    this.element.addEventListener('keydown', event => this.onKey(event));
    this.element.addEventListener('contextmenu', event => this.onMenu(event));
    new ResizeObserver(([entry]) => {
      this.widthPx = entry?.contentRect.width ?? 0;
      this.arrange();
    }).observe(this.element);
  }

  /** Rows to request: those in view and a page around them. */
  neededRange(): { from: number; to: number } {
    const rows = this.virtual.visible();
    const margin = this.virtual.pageRows;
    const from = Math.max(0, (rows[0]?.index ?? 0) - margin);
    return { from, to: Math.max((rows[rows.length - 1]?.index ?? 0) + margin, from + 2 * margin) + 1 };
  }

  /** Another question: what is selected belongs to the old one. */
  reset(keepActive: boolean): void {
    if (!keepActive) this.clear();
    this.scroller.scrollTop = 0;
  }

  update(view: ViewState, source: RowSource, several: Several): void {
    const { table } = view;
    const another = table !== this.view?.table || Object.values(several).join() !== Object.values(this.several).join();
    this.view = view;
    this.source = source;
    this.several = several;
    if (another) this.arrange();
    setAttribute(this.element, 'role', table.tree ? 'treegrid' : 'grid');
    const open = table.tree ? t('The right and left arrow keys open and close a row.') : '';
    setAttribute(this.element, 'aria-label', `${t('Live allocations. Press Enter to open the line.')} ${open}`.trim());
    this.head.setOrder(view.sort, view.descending);
    onFrame(this.draw);
  }

  /** The source has new rows. */
  refresh(): void {
    this.followActive();
    setAttribute(this.element, 'aria-rowcount', String(this.source.total + 1));
    onFrame(this.draw);
  }

  /** Nothing is selected any more. */
  clear(): void {
    const had = this.selection.active !== null;
    this.selection.clear();
    onFrame(this.draw);
    this.actions.selected();
    if (had) this.actions.select(null);
  }

  /** These rows are selected. */
  private pick(rows: readonly Row[]): void {
    this.selection.keys = new Set(rows.map(({ key }) => key));
    this.actions.selected();
    onFrame(this.draw);
  }

  revealActive(): void {
    if (this.selection.active) this.virtual.reveal(this.selection.active.index);
  }

  setOpened(row: Row | null): void {
    this.openedKey = row?.key ?? null;
    onFrame(this.draw);
  }

  /** The columns that are shown, for a copy of rows. */
  get columns(): Layout['columns'] {
    return this.layout.columns;
  }

  /** Why a chosen column is not there; '' where it is. */
  absence(id: Choice): string {
    const { wide, columns, left } = this.layout;
    if (id === 'verdict' ? wide : columns.some(column => column.id === id)) return '';
    return id === 'verdict' || left.includes(id) ? t('(no room)') : t('(the same in all rows)');
  }

  private readonly draw = (): void => {
    this.virtual.resize(this.source.total);
    this.body.style.height = `${this.virtual.totalHeight}px`;
    this.keepRoom(Math.min(FEWEST_ROWS, Math.max(1, this.source.total)));
    this.element.toggleAttribute('data-few', this.source.total <= FEWEST_ROWS);
    const visible = this.virtual.visible().filter(({ index }) => index < this.source.total);
    const indices = new Set(visible.map(row => row.index));
    for (const [index, view] of this.shown) if (!indices.has(index)) this.release(index, view);
    let missing = false;
    let activeId = '';
    for (const { index, top } of visible) {
      const row = this.source.row(index);
      missing ||= row === null;
      const active = this.isActive(index, row);
      if (active) activeId = `row-${index}`;
      this.viewOf(index).update(index, top, row, {
        active,
        selected: row !== null && this.selection.has(row.key),
        opened: row !== null && row.key === this.openedKey,
        fullBytes: this.source.fullBytes,
        layout: this.layout,
        oneFile: this.several.oneFile !== '',
        verdict: this.view?.table.columns.includes('verdict') ?? false,
      });
    }
    for (const view of this.spare) view.element.remove();
    setAttribute(this.element, 'aria-activedescendant', activeId);
    if (missing) this.actions.need();
  };

  /** So many rows keep their room, whatever else stands on the page. */
  private keepRoom(rows: number): void {
    if (rows === this.keptRows) return;
    this.keptRows = rows;
    this.element.style.setProperty('--gm-rows', String(rows));
  }

  private isActive(index: number, row: Row | null): boolean {
    const { active } = this.selection;
    return active !== null && (row ? row.key === active.key : index === active.index);
  }

  private viewOf(index: number): RowView {
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
    const { active } = this.selection;
    if (!active) return;
    if (active.key === PENDING) {
      const row = this.source.row(active.index);
      if (row) this.arrived(row, active.index);
      return;
    }
    const index = this.source.indexOf(active.key);
    if (index >= 0) {
      this.selection.moved(index);
      this.actions.select(this.source.row(index)!);
    } else if (this.source.total === 0) this.clear();
  }

  /** The active row is known at last; with others selected, it was the end of a range. */
  private arrived(row: Row, index: number): void {
    if (this.selection.size === 0) return this.choose(row, index);
    this.selection.move(index, row.key);
    this.changed(row);
  }

  /** The only selected row. */
  private choose(row: Row, index: number): void {
    const before = this.selection.active?.key;
    this.selection.one(index, row.key);
    this.changed(before === row.key ? undefined : row);
  }

  private changed(active?: Row): void {
    onFrame(this.draw);
    this.actions.selected();
    if (active) this.actions.select(active);
  }

  private activate(index: number, focus?: RowFocus): void {
    const row = this.source.row(index);
    if (!row) return;
    this.choose(row, index);
    this.actions.open(row, focus);
  }

  private showDetails(index: number): void {
    const row = this.source.row(index);
    if (!row) return;
    this.choose(row, index);
    this.actions.details(row);
  }

  private toggle(index: number): void {
    const row = this.source.row(index);
    if (!row) return;
    this.selection.toggle(index, row.key);
    this.changed(row);
  }

  /** All rows from where the range began to this one. */
  private async extend(index: number): Promise<void> {
    const row = this.source.row(index);
    this.selection.move(index, row?.key ?? PENDING);
    const { from, to } = this.selection.rangeTo(index);
    const rows = await this.source.rows(from, to);
    this.pick(rows);
    if (row) this.actions.select(row);
  }

  private async selectAll(): Promise<void> {
    const rows = await this.source.rows(0, this.source.total);
    const first = rows[0];
    if (first && !this.selection.active) this.selection.one(0, first.key);
    this.pick(rows);
  }

  private moveTo(target: number, event: KeyboardEvent): void {
    if (target < 0) return;
    this.virtual.reveal(target);
    const row = this.source.row(target);
    if (event.shiftKey && this.selection.active) return void this.extend(target);
    if (event.ctrlKey || event.metaKey) this.selection.move(target, row?.key ?? PENDING);
    else if (row) this.choose(row, target);
    else this.selection.await(target, PENDING);
    onFrame(this.draw);
  }

  private onClick(event: MouseEvent): void {
    const target = event.target as Element;
    const element = target.closest('[data-row]');
    if (!element) return;
    const index = Number(element.getAttribute('data-row'));
    const row = this.source.row(index);
    if (target.closest('.more')) return this.menuOf(index, target.getBoundingClientRect());
    if (target.closest('.into')) return this.showDetails(index);
    if (row?.tree && row.tree.expanded !== null && target.closest('.twisty'))
      return this.actions.expand(row, !row.tree.expanded);
    if (event.shiftKey && this.selection.active) void this.extend(index);
    else if (event.ctrlKey || event.metaKey) this.toggle(index);
    else this.activate(index, focusAfter(event));
  }

  private onMenu(event: MouseEvent): void {
    event.preventDefault();
    const target = event.target as Element;
    const at = { x: event.clientX, y: event.clientY };
    if (target.closest('.table-head')) return this.actions.menu(null, at);
    const element = target.closest('[data-row]');
    if (element) this.menuOf(Number(element.getAttribute('data-row')), { left: at.x, bottom: at.y });
    else if (document.activeElement === this.element) this.menuOfActive();
  }

  /** On a row that is not selected, the menu is about that row alone. */
  private menuOf(index: number, { left, bottom }: { left: number; bottom: number }): void {
    const row = this.source.row(index);
    if (!row) return;
    if (this.selection.has(row.key)) this.selection.move(index, row.key);
    else this.choose(row, index);
    this.element.focus({ preventScroll: true });
    this.actions.menu(row, { x: left, y: bottom });
  }

  private menuOfActive(): void {
    const { active } = this.selection;
    const box = active && this.shown.get(active.index)?.element.getBoundingClientRect();
    if (active && box) this.menuOf(active.index, { left: box.left + 24, bottom: box.bottom });
  }

  private onKey(event: KeyboardEvent): void {
    if (event.altKey || event.target !== this.element) return;
    const at = this.selection.active?.index ?? -1;
    const target = rowMove(event.key, at, this.source.total, this.virtual.pageRows);
    if (target !== undefined) this.moveTo(target, event);
    else if (!this.act(event, at)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** What a key does that is no move; false: nothing. */
  private act(event: KeyboardEvent, at: number): boolean {
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key === 'a') void this.selectAll();
    else if (command && event.key === 'c') this.actions.copy();
    else if (event.key === ' ' && at >= 0) this.toggle(at);
    else if (event.key === 'ContextMenu' || (event.shiftKey && event.key === 'F10')) this.menuOfActive();
    else if (command || event.shiftKey) return false;
    else if (event.key === 'Enter' && at >= 0) this.activate(at);
    else if (event.key === 'Escape' && this.selection.size > 1) this.keepActive();
    else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') return this.unfold(event, at);
    else return false;
    return true;
  }

  private keepActive(): void {
    const { active } = this.selection;
    if (active) this.selection.one(active.index, active.key);
    this.changed();
  }

  /** In a list: Right shows the details. In a tree: Right opens a row, or goes to the first one in it; Left closes it, or goes to the one it is in. */
  private unfold(event: KeyboardEvent, at: number): boolean {
    const row = this.source.row(at);
    if (row && !row.tree && event.key === 'ArrowRight') return (this.showDetails(at), true);
    if (!row?.tree) return false;
    const open = event.key === 'ArrowRight';
    if (row.tree.expanded === !open) this.actions.expand(row, open);
    else if (open && (this.source.row(at + 1)?.tree?.level ?? 0) > row.tree.level) this.moveTo(at + 1, event);
    else if (!open && this.actions.parentOf(at) >= 0) this.moveTo(this.actions.parentOf(at), event);
    return true;
  }

  private followSideways(): void {
    this.head.scrollTo(this.scroller.scrollLeft);
  }

  private arrange(): void {
    const { view } = this;
    if (!view) return;
    const { columns, tree } = view.table;
    const usual = columns.join() === DEFAULT_CHOICE.join();
    const scrollbarPx = this.scroller.offsetWidth - this.scroller.clientWidth;
    const roomPx = this.widthPx - Math.max(scrollbarPx, LEAST_SCROLLBAR_PX);
    const chosen = chosenColumns(columns, tree, this.several);
    this.layout = layoutOf(chosen, roomPx, usual || tree, this.several.oneFile !== '', !this.several.grew);
    const { wide, template, leastPx } = this.layout;
    this.element.classList.toggle('wide', wide);
    this.element.style.setProperty('--gm-scrollbar', `${scrollbarPx}px`);
    this.element.style.setProperty('--gm-row', template);
    this.element.style.setProperty('--gm-least', `${leastPx}px`);
    setAttribute(this.element, 'aria-colcount', String(this.layout.columns.length));
    this.head.setLayout(this.layout);
    this.followSideways();
    onFrame(this.draw);
  }
}
