import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../extension/text/format';
import type { JobLayer, JobRank } from '../../extension/protocol/job';
import { el, setAttribute, setText } from '../dom';
import { cellsOf, columnStep, type Cells } from './heatMapCells';

const LEAST_ROW_PX = 3;
const MOST_ROW_PX = 20;
const HEIGHT_PX = 420;
/** From a row of this height on its rank stands beside it. */
const TEXT_ROW_PX = 12;
const MARGIN_PX = 44;

/** Ranks × steps as a picture: the darker a cell, the more bytes. One cell is the active one, by mouse or by keys. */
export class HeatMap {
  readonly element = el('div', { class: 'heat', tabindex: 0, role: 'application', 'data-part': 'heat' });
  private readonly canvas = el('canvas');
  private readonly status = el('div', { class: 'cell-text', role: 'status', 'data-value': 'cell' });
  private ranks: readonly JobRank[] = [];
  private differing: ReadonlySet<number> = new Set();
  private cells: Cells = { columns: 0, rows: 0, most: 0, lastStep: 0, values: new Float64Array() };
  private active = { row: 0, column: 0 };

  constructor(private readonly open: (rank: JobRank) => void) {
    setAttribute(this.element, 'aria-label', t('Ranks by step. Arrow keys move, Enter opens the trace of the rank.'));
    const scroller = el('div', { class: 'heat-scroller' }, this.canvas);
    this.element.append(scroller, this.status);
    this.canvas.addEventListener('pointermove', event => this.point(event));
    this.canvas.addEventListener('click', event => this.point(event));
    this.canvas.addEventListener('dblclick', () => this.openActive());
    this.element.addEventListener('keydown', event => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** `differing`: ranks that differ from their equals. */
  show(ranks: readonly JobRank[], layer: JobLayer, differing: ReadonlySet<number>): void {
    Object.assign(this, { ranks, differing });
    this.cells = cellsOf(ranks, layer);
    this.draw();
    this.move(0, 0);
  }

  get most(): number {
    return this.cells.most;
  }

  private get rowPx(): number {
    return Math.max(LEAST_ROW_PX, Math.min(MOST_ROW_PX, Math.floor(HEIGHT_PX / Math.max(1, this.cells.rows))));
  }

  private draw(): void {
    const { columns, rows, values, most } = this.cells;
    const width = Math.max(200, this.element.clientWidth - 16);
    const height = rows * this.rowPx;
    const scale = devicePixelRatio;
    Object.assign(this.canvas, { width: width * scale, height: Math.max(1, height * scale) });
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    const context = this.canvas.getContext('2d');
    if (!context || columns === 0 || rows === 0) return;
    context.scale(scale, scale);
    const colours = themeColours(this.element);
    const picture = new OffscreenCanvas(columns, rows);
    const small = picture.getContext('2d');
    if (!small) return;
    for (let i = 0; i < values.length; i++) {
      const value = values[i] ?? NaN;
      if (Number.isNaN(value)) continue;
      small.globalAlpha = 0.06 + 0.94 * (most > 0 ? value / most : 0);
      small.fillStyle = colours.cell;
      small.fillRect(i % columns, Math.floor(i / columns), 1, 1);
    }
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, MARGIN_PX, 0, width - MARGIN_PX, height);
    this.drawMargin(context, colours);
    this.drawActive(context, width, colours);
  }

  private drawMargin(context: CanvasRenderingContext2D, colours: Colours): void {
    const every = Math.ceil(TEXT_ROW_PX / this.rowPx);
    context.font = `${Math.min(11, TEXT_ROW_PX)}px ${colours.font}`;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    this.ranks.forEach(({ rank }, row) => {
      const middle = (row + 0.5) * this.rowPx;
      const differs = this.differing.has(rank);
      context.fillStyle = differs ? colours.differs : colours.text;
      if (differs) context.fillRect(MARGIN_PX - 5, row * this.rowPx, 4, Math.max(2, this.rowPx - 1));
      if (row % every === 0) context.fillText(String(rank), MARGIN_PX - 8, middle);
    });
  }

  private drawActive(context: CanvasRenderingContext2D, width: number, colours: Colours): void {
    const { columns } = this.cells;
    const cellPx = (width - MARGIN_PX) / columns;
    context.strokeStyle = colours.focus;
    context.lineWidth = 2;
    const x = MARGIN_PX + this.active.column * cellPx;
    context.strokeRect(x, this.active.row * this.rowPx, Math.max(3, cellPx), Math.max(3, this.rowPx));
  }

  private point({ offsetX, offsetY }: PointerEvent | MouseEvent): void {
    const cellPx = (this.canvas.clientWidth - MARGIN_PX) / Math.max(1, this.cells.columns);
    const [row, column] = [Math.floor(offsetY / this.rowPx), Math.floor((offsetX - MARGIN_PX) / cellPx)];
    this.move(row - this.active.row, column - this.active.column);
  }

  private key(event: KeyboardEvent): void {
    const { rows, columns } = this.cells;
    const moves: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      PageUp: [-10, 0],
      PageDown: [10, 0],
      Home: [-rows, -columns],
      End: [rows, columns],
    };
    const move = moves[event.key];
    if (move) this.move(...move);
    else if (event.key === 'Enter') this.openActive();
    else return;
    event.preventDefault();
  }

  private move(rows: number, columns: number): void {
    const within = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));
    const row = within(this.active.row + rows, this.cells.rows);
    const column = within(this.active.column + columns, this.cells.columns);
    this.active = { row, column };
    this.draw();
    setText(this.status, this.describe());
    if (rows !== 0) this.canvas.parentElement?.scrollTo({ top: Math.max(0, row * this.rowPx - HEIGHT_PX / 2) });
  }

  private describe(): string {
    const rank = this.ranks[this.active.row];
    if (rank === undefined) return '';
    const value = this.cells.values[this.active.row * this.cells.columns + this.active.column] ?? NaN;
    const bytes = Number.isNaN(value) ? t('unknown') : formatBytes(value);
    const step = formatCount(columnStep(this.cells, this.active.column));
    const what = t('rank {0} on {1} · step {2}: {3}', rank.rank, rank.host, step, bytes);
    return rank.leaks > 0 ? t('{0} · leaks', what) : what;
  }

  private openActive(): void {
    const rank = this.ranks[this.active.row];
    if (rank !== undefined) this.open(rank);
  }
}

type Colours = Record<'cell' | 'text' | 'differs' | 'focus' | 'font', string>;

function themeColours(element: Element): Colours {
  const style = getComputedStyle(element);
  const read = (...names: string[]): string =>
    names.map(name => style.getPropertyValue(name).trim()).find(value => value !== '') ?? style.color;
  return {
    cell: read('--vscode-charts-blue', '--vscode-foreground'),
    text: read('--vscode-descriptionForeground', '--vscode-foreground'),
    differs: read('--vscode-charts-red', '--vscode-editorError-foreground'),
    focus: read('--vscode-focusBorder', '--vscode-contrastActiveBorder'),
    font: style.fontFamily,
  };
}
