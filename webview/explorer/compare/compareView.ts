// The table of two moments: what each line holds at A, at B, and the difference.
import { t } from '@vscode/l10n';
import type { ComparedRow, Comparison } from '../../../extension/protocol/requests/compareRequests';
import { fileLine, formatBytes, formatCount } from '../../../extension/text/format';
import { el, setAttribute, setText, setTextOrHide } from '../../dom';
import { rowMove } from '../common/rowKeys';

const PAGE_ROWS = 10;
const COLUMNS = ['site', 'change', 'a', 'b', 'difference'] as const;
type ColumnId = (typeof COLUMNS)[number];

export class CompareView {
  readonly element: HTMLElement;
  private readonly body = el('div', { class: 'compare-rows' });
  private readonly more = el('p', { class: 'dim compare-more' });
  private readonly none = el('p', { class: 'none dim', role: 'status' });
  private rows: readonly ComparedRow[] = [];
  private elements: HTMLElement[] = [];
  private active = -1;

  constructor(private readonly open: (row: ComparedRow) => void) {
    const titles: Record<ColumnId, string> = {
      site: t('Line'),
      change: t('Change'),
      a: 'A',
      b: 'B',
      difference: t('Difference'),
    };
    const titleCells = COLUMNS.map(id => cell('columnheader', id, titles[id]));
    const head = el('div', { role: 'row', class: 'compare-row head' }, ...titleCells);
    const label = t('What differs, the biggest difference first. Enter opens the line.');
    const scroller = el('div', { class: 'compare-scroller', role: 'rowgroup', tabindex: 0 }, this.body, this.more);
    this.element = el('div', { class: 'compare-grid', role: 'grid', tabindex: 0, 'aria-label': label });
    this.element.append(el('div', { role: 'rowgroup', class: 'compare-head' }, head), scroller, this.none);
    this.body.addEventListener('click', event => this.onClick(event));
    this.element.addEventListener('keydown', event => this.onKey(event));
  }

  show({ rows, total }: Comparison, differing: number): void {
    const key = this.rows[this.active];
    this.rows = rows;
    const nameOf = ({ file, line, stack }: ComparedRow): string => `${file}:${line} ${stack.join()}`;
    this.active = key ? rows.findIndex(row => nameOf(row) === nameOf(key)) : -1;
    this.elements = rows.map((row, index) => rowElement(row, index));
    this.body.replaceChildren(...this.elements);
    setAttribute(this.element, 'aria-rowcount', String(total + 1));
    const hidden = total - rows.length;
    setText(this.more, hidden > 0 ? t('{0} more rows, with smaller differences.', formatCount(hidden)) : '');
    const same = differing === 0 && rows.length === 0;
    setTextOrHide(this.none, same ? t('Both moments hold nothing, or the same.') : '');
    this.mark();
  }

  clear(): void {
    this.show({ rows: [], total: 0, bytesA: 0, bytesB: 0, added: 0, gone: 0, renamed: null }, 1);
  }

  private mark(): void {
    this.elements.forEach((element, index) => setAttribute(element, 'aria-selected', String(index === this.active)));
    const active = this.elements[this.active];
    setAttribute(this.element, 'aria-activedescendant', active?.id ?? '');
  }

  private moveTo(index: number): void {
    this.active = index;
    this.mark();
    this.elements[this.active]?.scrollIntoView({ block: 'nearest' });
  }

  private onClick(event: MouseEvent): void {
    const at = this.elements.indexOf((event.target as Element).closest<HTMLElement>('[data-compared]')!);
    if (at < 0) return;
    this.moveTo(at);
    this.openActive();
  }

  private openActive(): void {
    const row = this.rows[this.active];
    if (row && row.line > 0) this.open(row);
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = rowMove(event.key, this.active, this.rows.length, PAGE_ROWS);
    if (to !== undefined) this.moveTo(to);
    else if (event.key === 'Enter') this.openActive();
    else return;
    event.preventDefault();
  }
}

function rowElement(row: ComparedRow, index: number): HTMLElement {
  const difference = row.bytesB - row.bytesA;
  const cells: Record<ColumnId, HTMLElement | string> = {
    site: siteText(row),
    change: badgeOf(row),
    a: row.countA === 0 ? '–' : formatBytes(row.bytesA),
    b: row.countB === 0 ? '–' : formatBytes(row.bytesB),
    difference: `${difference > 0 ? '+' : ''}${formatBytes(difference)}`,
  };
  const place = { id: `compared-${index}`, 'data-compared': index, 'aria-rowindex': index + 2 };
  const facts = { 'data-file': row.file, 'data-line': row.line, 'data-change': changeOf(row), title: titleOf(row) };
  const children = COLUMNS.map(id => cell('gridcell', id, cells[id]));
  return el('div', { role: 'row', class: 'compare-row', ...place, ...facts }, ...children);
}

function cell(role: string, id: ColumnId, content: HTMLElement | string): HTMLElement {
  const element = el('div', { role, 'data-column': id }, content);
  element.style.gridArea = id;
  return element;
}

function changeOf({ bytesA, bytesB, countA, countB }: ComparedRow) {
  if (countA === 0) return 'new';
  if (countB === 0) return 'gone';
  return bytesB > bytesA ? 'more' : bytesB < bytesA ? 'less' : 'same';
}

function siteText(row: ComparedRow): HTMLElement {
  const name = row.file === '' ? t('(no Python line)') : fileLine(row.file, row.line);
  const caller = row.stack[1];
  const behind = [row.function, caller === undefined ? '' : `← ${caller}`].filter(part => part !== '').join(' ');
  return el('span', {}, el('span', { class: 'primary' }, name), ' ', el('span', { class: 'dim' }, behind));
}

function badgeOf(row: ComparedRow): HTMLElement | string {
  const word = { new: t('new'), gone: t('gone'), more: '', less: '', same: '' }[changeOf(row)];
  return word === '' ? '' : el('span', { class: 'badge' }, word);
}

function titleOf(row: ComparedRow): string {
  const lines = [row.stack.length > 0 ? row.stack.join('\n') : `${row.file}:${row.line} ${row.function}`];
  if (row.movedFrom !== null) lines.push(t('In A it is on line {0}.', row.movedFrom));
  lines.push(t('{0} blocks at A, {1} at B', formatCount(row.countA), formatCount(row.countB)));
  return lines.join('\n');
}
