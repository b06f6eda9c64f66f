// The table of two moments: bytes of each line before and after, and the difference.
import { t } from '@vscode/l10n';
import type { ComparedRow, Comparison } from '../../../extension/protocol/requests/compareRequests';
import { baseName, fileLine, formatBytes, formatCount } from '../../../extension/text/format';
import { button, el, setAttribute, setText, setTextOrHide } from '../../dom';
import { oneLineName, setFunction } from '../common/named';
import { focusAfter, rowMove, type RowFocus } from '../common/rowKeys';

const PAGE_ROWS = 10;
const COLUMNS = ['site', 'change', 'a', 'b', 'difference'] as const;
type ColumnId = (typeof COLUMNS)[number];
/** Before the first answer. */
const NOTHING: Comparison = { rows: [], total: 0, bytesA: 0, bytesB: 0, added: 0, gone: 0, renamed: null };

export class CompareView {
  readonly element: HTMLElement;
  private readonly body = el('div', { class: 'compare-rows' });
  private readonly more = el('p', { class: 'dim compare-more' });
  /** The title of the lines: the file that all are of, if there is one. */
  private readonly site: HTMLElement;
  private readonly none = el('p', { class: 'none dim', role: 'status' });
  private readonly unchanged = button('link', 'unchanged', '', () => {
    this.unfolded = !this.unfolded;
    this.draw();
  });
  /** Below the rows. */
  readonly foot = el('div', { class: 'compare-foot' }, this.unchanged, this.more);
  private comparison: Comparison = NOTHING;
  /** Rows that did not change are shown too. */
  private unfolded = false;
  private rows: readonly ComparedRow[] = [];
  private elements: HTMLElement[] = [];
  private active = -1;

  constructor(private readonly open: (row: ComparedRow, focus?: RowFocus) => void) {
    const titles: Record<ColumnId, string> = {
      site: '',
      change: t('Change'),
      a: t('Before'),
      b: t('After'),
      difference: t('Difference'),
    };
    const titleCells = COLUMNS.map(id => cell('columnheader', id, titles[id]));
    this.site = titleCells[0]!;
    const head = el('div', { role: 'row', class: 'compare-row head' }, ...titleCells);
    const label = t('Differences, largest first. Press Enter to open the line.');
    const scroller = el('div', { class: 'compare-scroller', role: 'rowgroup', tabindex: 0 }, this.body);
    this.element = el('div', { class: 'compare-grid', role: 'grid', tabindex: 0, 'aria-label': label });
    this.element.append(el('div', { role: 'rowgroup', class: 'compare-head' }, head), scroller, this.none);
    this.body.addEventListener('click', event => this.onClick(event));
    this.element.addEventListener('keydown', event => this.onKey(event));
  }

  show(comparison: Comparison): void {
    this.comparison = comparison;
    this.draw();
  }

  private draw(): void {
    const { rows: all, total } = this.comparison;
    const key = this.rows[this.active];
    const differing = all.filter(row => changeOf(row) !== 'same');
    const rows = this.unfolded ? all : differing;
    const same = all.length > differing.length ? total - differing.length : 0;
    this.rows = rows;
    const nameOf = ({ file, line, stack }: ComparedRow): string => `${file}:${line} ${stack.join()}`;
    this.active = key ? rows.findIndex(row => nameOf(row) === nameOf(key)) : -1;
    const files = new Set(all.flatMap(({ file }) => (file === '' ? [] : [file])));
    const oneFile = files.size === 1 ? baseName([...files][0]!) : '';
    setText(this.site, oneFile || t('Line'));
    this.elements = rows.map((row, index) => rowElement(row, index, oneFile));
    this.body.replaceChildren(...this.elements);
    this.element.style.setProperty('--gm-rows', String(rows.length || 3));
    setAttribute(this.element, 'aria-rowcount', String(total + 1));
    this.unchanged.hidden = same === 0;
    setText(this.unchanged, unchangedText(same, all[0]?.stack.length === 0));
    setAttribute(this.unchanged, 'aria-expanded', String(this.unfolded));
    const hidden = same > 0 && !this.unfolded ? 0 : total - rows.length;
    setText(this.more, hidden > 0 ? t('{0} more rows with smaller differences.', formatCount(hidden)) : '');
    const known = this.comparison !== NOTHING;
    setTextOrHide(this.none, known && rows.length === 0 ? t('Nothing changed between the two moments.') : '');
    this.mark();
  }

  clear(): void {
    this.unfolded = false;
    this.show(NOTHING);
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
    this.openActive(focusAfter(event));
  }

  private openActive(focus?: RowFocus): void {
    const row = this.rows[this.active];
    if (row && row.line > 0) this.open(row, focus);
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

/** `lines`: they are no stacks. */
function unchangedText(count: number, lines: boolean): string {
  if (count === 1) return lines ? t('1 line did not change') : t('1 stack did not change');
  return lines ? t('{0} lines did not change', formatCount(count)) : t('{0} stacks did not change', formatCount(count));
}

function rowElement(row: ComparedRow, index: number, oneFile: string): HTMLElement {
  const difference = row.bytesB - row.bytesA;
  const cells: Record<ColumnId, HTMLElement | string> = {
    site: siteText(row, oneFile),
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
  if (bytesA === bytesB && countA !== countB) return 'other';
  return bytesB > bytesA ? 'more' : bytesB < bytesA ? 'less' : 'same';
}

function siteText(row: ComparedRow, oneFile: string): HTMLElement {
  const name =
    row.file === '' ? t('(no Python line)') : fileLine(row.file, row.line).slice(row.line > 0 ? oneFile.length : 0);
  const behind = el('span', { class: 'dim' });
  setFunction(behind, row.function);
  if (row.stack[1] !== undefined) behind.append(` ← ${row.stack[1]}`);
  return el('span', { class: 'site-name' }, oneLineName(name), ' ', behind);
}

function badgeOf(row: ComparedRow): HTMLElement | string {
  const word = { new: t('new'), gone: t('gone'), more: '', less: '', other: '', same: '' }[changeOf(row)];
  return word === '' ? '' : el('span', { class: 'badge' }, word);
}

function titleOf(row: ComparedRow): string {
  const lines = [row.stack.length > 0 ? row.stack.join('\n') : `${row.file}:${row.line} ${row.function}`];
  if (row.movedFrom !== null) lines.push(t('On line {0} in the earlier trace.', row.movedFrom));
  lines.push(`${formatBytes(row.bytesA)} → ${formatBytes(row.bytesB)}`);
  lines.push(t('{0} blocks before, {1} after', formatCount(row.countA), formatCount(row.countB)));
  return lines.join('\n');
}
