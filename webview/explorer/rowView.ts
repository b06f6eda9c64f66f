// One reused element of the table; it writes only what differs from what it showed before.
import { formatBytes, formatCount } from '../../extension/protocol/format';
import { el, icon, setAttribute, setText, svg } from '../dom';
import { COLUMNS, type ColumnId } from './columns';
import { sparkPoints, type Row } from './rows';

export interface RowMarks {
  active: boolean;
  opened: boolean;
  /** Bytes of a full bar. */
  fullBytes: number;
}
const SPARK_WIDTH = 56;
const SPARK_HEIGHT = 18;
const TREND_ICONS = { growing: 'arrow-up', shrinking: 'arrow-down', steady: '' };

export class RowView {
  readonly element = el('div', { role: 'row', class: 'row' });
  private readonly cells = new Map<ColumnId, HTMLElement>();
  private readonly primary = el('span', { class: 'primary' });
  private readonly secondary = el('span', { class: 'dim' });
  private readonly mark = icon('reply');
  private readonly bar = el('i', { class: 'bar' });
  private readonly live = el('span', {});
  private readonly trend = icon('blank');
  private readonly growth = el('span', {});
  private readonly line = svg('polyline', { points: '' });
  private index = -1;

  constructor() {
    COLUMNS.forEach((column, i) => {
      const cell = el('div', { role: 'gridcell', 'data-column': column.id, 'aria-colindex': i + 1 });
      this.cells.set(column.id, cell);
      this.element.append(cell);
    });
    this.mark.title = 'Allocated in backward; this is the line it belongs to';
    this.cell('site').append(this.primary, this.secondary, this.mark);
    this.cell('live').append(this.bar, this.live);
    this.cell('growth').append(this.trend, this.growth);
    const image = svg('svg', { width: SPARK_WIDTH, height: SPARK_HEIGHT, 'aria-hidden': 'true', class: 'spark' });
    image.append(this.line);
    this.cell('spark').append(image);
  }

  /** Shows a row, or an empty place while its data is on the way (row null). */
  update(index: number, top: number, row: Row | null, marks: RowMarks): void {
    if (this.index !== index) {
      this.index = index;
      this.element.id = `row-${index}`;
      setAttribute(this.element, 'data-row', String(index));
      setAttribute(this.element, 'aria-rowindex', String(index + 2)); // the header is row 1
    }
    this.element.style.transform = `translateY(${top}px)`;
    setAttribute(this.element, 'aria-selected', String(marks.active));
    this.element.classList.toggle('loading', row === null);
    this.element.classList.toggle('opened', marks.opened && row !== null);
    if (row) this.show(row, marks.fullBytes);
  }

  private show(row: Row, fullBytes: number): void {
    const { element } = this;
    setAttribute(element, 'data-id', String(row.id));
    setAttribute(element, 'data-file', row.file);
    setAttribute(element, 'data-line', String(row.line));
    setAttribute(element, 'data-trend', row.trend);
    setAttribute(element, 'data-source', row.source);
    this.element.classList.toggle('no-line', row.line === 0);
    setText(this.primary, row.primary);
    setText(this.secondary, row.secondary);
    setAttribute(this.cell('site'), 'title', row.title);
    this.mark.hidden = row.source === 'python' || row.source === 'none';
    setText(this.live, formatBytes(row.liveBytes));
    setAttribute(this.cell('live'), 'title', `${formatCount(row.liveBytes)} bytes, peak ${formatBytes(row.peakBytes)}`);
    this.bar.style.width = `${fullBytes > 0 ? Math.min(100, (row.liveBytes / fullBytes) * 100).toFixed(1) : 0}%`;
    setText(this.cell('count'), formatCount(row.liveCount));
    setAttribute(this.trend, 'class', `codicon codicon-${TREND_ICONS[row.trend] || 'blank'}`);
    setText(this.growth, row.growth);
    setText(this.cell('thread'), row.thread);
    setAttribute(this.cell('thread'), 'title', row.thread);
    setText(this.cell('device'), row.device);
    setAttribute(this.line, 'points', sparkPoints(row.spark, SPARK_WIDTH, SPARK_HEIGHT));
  }

  private cell(id: ColumnId): HTMLElement {
    return this.cells.get(id)!;
  }
}
