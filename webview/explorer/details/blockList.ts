// The live blocks of what is selected: a list of virtual rows, sorted by size, age or address.
import { t } from '@vscode/l10n';
import type { AllocationQuery, AllocationWindow } from '../../../extension/protocol/trace';
import { formatBytes, formatCount } from '../../../extension/text/format';
import { button, el, onFrame, setAttribute, setAttributes, setHidden, setText } from '../../dom';
import { liveBlocksText, stepsText } from '../common/counts';
import { blockAt, blockKey, type Block } from '../common/blockRow';
import { rowMove } from '../common/rowKeys';
import { VirtualRows } from '../common/virtualRows';

type BlockSort = Pick<AllocationQuery, 'sort' | 'descending'>;
export interface BlockListActions {
  choose(block: Block): void;
  /** Another order, or rows came into view whose data is not here. */
  need(): void;
}

const ROW_PX = 22;
/** Requested beyond those in view. */
const MARGIN_ROWS = 10;
const SORTS: readonly (readonly [AllocationQuery['sort'], string, string])[] = [
  ['bytes', t('Size'), t('Largest first')],
  ['age', t('Age'), t('Oldest first')],
  ['address', t('Address'), t('By address')],
];

export class BlockList {
  readonly element = el('div', { class: 'blocks' });
  private readonly title = el('span', { class: 'dim number' });
  private readonly buttons = new Map<string, HTMLElement>();
  private readonly body = el('div', { class: 'block-rows', role: 'presentation' });
  private readonly scroller = el('div', { class: 'block-scroller', role: 'listbox', tabindex: 0 }, this.body);
  private readonly virtual = new VirtualRows(this.scroller, ROW_PX, () => onFrame(this.draw));
  private readonly spare: HTMLElement[] = [];
  private window: AllocationWindow | null = null;
  private from = 0;
  private active = -1;
  private chosenKey = '';
  /** A row that was chosen before its data was here; −1: none. */
  private awaited = -1;
  private sort: BlockSort = { sort: 'bytes', descending: true };

  constructor(private readonly actions: BlockListActions) {
    const sorts = el('span', { class: 'block-sorts', role: 'group', 'aria-label': t('Sort the blocks') });
    for (const [sort, title, hint] of SORTS) sorts.append(this.sortButton(sort, title, hint));
    this.scroller.setAttribute('aria-label', t('Live blocks. Press Enter to show details.'));
    this.element.append(el('div', { class: 'block-head' }, this.title, sorts), this.scroller);
    this.scroller.addEventListener('click', event => this.onClick(event));
    this.scroller.addEventListener('keydown', event => this.onKey(event));
  }

  /** Rows to request: those in view and a page around them. */
  neededRange(): BlockSort & { from: number; to: number } {
    const rows = this.virtual.visible();
    const from = Math.max(0, (rows[0]?.index ?? 0) - MARGIN_ROWS);
    return { ...this.sort, from, to: (rows.at(-1)?.index ?? 0) + 2 * MARGIN_ROWS };
  }

  /** Other blocks are listed. */
  forget(): void {
    this.window = null;
    this.active = -1;
    this.awaited = -1;
    this.chosenKey = '';
    this.scroller.scrollTop = 0;
    setHidden(this.element, true);
  }

  /** @param all blocks of the selection, more than are listed where it has several stacks; null: not known */
  show(window: AllocationWindow, from: number, all: number | null): void {
    this.window = window;
    this.from = from;
    setHidden(this.element, window.total === 0);
    const blocks = liveBlocksText(window.total);
    const part = all !== null && all > window.total;
    setText(this.title, part ? t('{0} of {1}, from the largest call stack', blocks, formatCount(all)) : blocks);
    for (const [sort, button] of this.buttons) setAttribute(button, 'aria-pressed', String(sort === this.sort.sort));
    if (this.awaited >= 0) this.choose(this.awaited);
    onFrame(this.draw);
  }

  mark(key: string): void {
    this.chosenKey = key;
    onFrame(this.draw);
  }

  private readonly draw = (): void => {
    const total = this.window?.total ?? 0;
    this.active = Math.min(this.active, total - 1);
    this.virtual.resize(total);
    this.body.style.height = `${this.virtual.totalHeight}px`;
    this.scroller.style.maxHeight = this.body.style.height;
    const visible = this.virtual.visible();
    while (this.spare.length < visible.length) this.body.append(this.makeRow());
    let missing = false;
    this.spare.forEach((row, i) => {
      const place = visible[i];
      setHidden(row, place === undefined);
      if (!place) setAttributes(row, { id: null, 'aria-selected': null });
      if (place) missing = !this.drawRow(row, place.index, place.top, total) || missing;
    });
    const shown = visible.some(row => row.index === this.active);
    setAttribute(this.scroller, 'aria-activedescendant', shown ? `block-${this.active}` : '');
    if (missing) this.actions.need();
  };

  private makeRow(): HTMLElement {
    const row = el('div', { class: 'block-row', role: 'option' });
    row.append(el('span', {}), el('span', { class: 'number' }), el('span', { class: 'number dim' }));
    this.spare.push(row);
    return row;
  }

  private drawRow(row: HTMLElement, index: number, top: number, total: number): boolean {
    const block = this.window ? blockAt(this.window, index - this.from) : null;
    row.style.transform = `translateY(${top}px)`;
    setAttributes(row, { id: `block-${index}`, 'data-index': index, 'data-block': block?.address ?? '' });
    const chosen = String(block !== null && blockKey(block) === this.chosenKey);
    setAttributes(row, { 'aria-posinset': index + 1, 'aria-setsize': total, 'aria-selected': chosen });
    row.classList.toggle('active', index === this.active);
    const age = block ? stepsText(block.ageSteps) : '';
    const words = block ? [block.name || block.address, formatBytes(block.bytes), age] : ['…', '', ''];
    words.forEach((word, i) => setText(row.children[i]!, word));
    return block !== null;
  }

  private sortButton(sort: AllocationQuery['sort'], title: string, hint: string): HTMLElement {
    const choose = (): void => {
      const descending = sort === this.sort.sort ? !this.sort.descending : sort !== 'address';
      this.sort = { sort, descending };
      this.actions.need();
    };
    const element = button('toggle', null, title, choose, { 'data-sort-blocks': sort, title: hint });
    this.buttons.set(sort, element);
    return element;
  }

  private onClick(event: MouseEvent): void {
    const row = (event.target as Element).closest('[data-index]');
    if (row) this.choose(Number(row.getAttribute('data-index')));
  }

  private choose(index: number): void {
    this.active = index;
    const block = this.window ? blockAt(this.window, index - this.from) : null;
    this.awaited = block ? -1 : index;
    if (block) this.actions.choose(block);
    onFrame(this.draw);
  }

  private onKey(event: KeyboardEvent): void {
    const target = rowMove(event.key, this.active, this.window?.total ?? 0, this.virtual.pageRows);
    if (target !== undefined) {
      this.active = target;
      this.awaited = -1;
      this.virtual.reveal(this.active);
      onFrame(this.draw);
    } else if ((event.key === 'Enter' || event.key === ' ') && this.active >= 0) this.choose(this.active);
    else return;
    event.preventDefault();
  }
}
