// One reused element of the table; it writes only what differs from what it showed before.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../extension/text/format';
import { isOfBackward } from '../../../extension/protocol/trace';
import { el, icon, setAttribute, setAttributes, setHidden, setText, svg } from '../../dom';
import { COLUMNS, type Column, type ColumnId } from '../common/columns';
import type { Layout } from './tableLayout';
import { growthText, sparkPoints, type Row } from '../common/rows';
import { setFunction, setName, splitName, withoutCode } from '../common/named';
import { hueOf, hueStyle, strengthOf } from '../common/hues';
import { WORDS } from '../common/vocabularyWords';

export interface RowMarks {
  /** Keys act on it. */
  active: boolean;
  selected: boolean;
  opened: boolean;
  /** Bytes of a full bar. */
  fullBytes: number;
  layout: Layout;
  /** The title of the column names the file of all rows. */
  oneFile: boolean;
  /** Whether the word of its verdict is shown. */
  verdict: boolean;
}
const SPARK_WIDTH = 48;
const SPARK_HEIGHT = 18;
const TREND_ICONS = { growing: 'arrow-up', shrinking: 'arrow-down', steady: '' };
const INDENT_PX = 14;
/** Columns that are more than a text. */
const DRAWN: readonly ColumnId[] = ['site', 'live', 'growth', 'spark'];

export class RowView {
  readonly element = el('div', { role: 'row', class: 'row' });
  private readonly cells = new Map<ColumnId, HTMLElement>();
  private readonly twisty = icon('chevron-right');
  private readonly primary = el('span', { class: 'primary' });
  /** The number of its line, which is never cut. */
  private readonly at = el('span', { class: 'at' });
  private readonly secondary = el('span', { class: 'dim' });
  private readonly mark = icon('reply');
  private readonly verdict = el('span', { class: 'verdict' });
  private readonly more = rowButton('more', 'ellipsis', t('Actions'));
  private readonly into = rowButton('into', 'chevron-right', t('Details (Right arrow)'));
  private readonly bar = el('i', { class: 'bar' });
  private readonly live = el('span', {});
  private readonly trend = icon('blank');
  private readonly growth = el('span', {});
  private readonly line = svg('polyline', { points: '' });
  private index = -1;
  private layout: Layout | null = null;
  private plain: readonly Column[] = [];

  constructor() {
    for (const { id } of COLUMNS) {
      const cell = el('div', { role: 'gridcell', 'data-column': id });
      cell.style.gridArea = id;
      this.cells.set(id, cell);
      this.element.append(cell);
    }
    this.mark.title = t('Allocated in the backward pass of this line');
    this.twisty.classList.add('twisty');
    setAttribute(this.more, 'aria-haspopup', 'menu');
    const place = el('span', { class: 'place' }, this.primary, this.at);
    const name = el('span', { class: 'site-name' }, place, this.secondary, this.mark);
    const buttons = el('span', { class: 'row-buttons' }, this.more, this.into);
    this.cell('site').append(this.twisty, name, this.verdict, buttons);
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
    if (this.layout !== marks.layout) this.arrange(marks.layout);
    this.element.style.transform = `translateY(${top}px)`;
    setAttribute(this.element, 'aria-selected', String(marks.selected));
    const { classList } = this.element;
    classList.toggle('active', marks.active);
    classList.toggle('loading', row === null);
    setAttribute(this.element, 'aria-busy', String(row === null)); // its cells are empty so long
    classList.toggle('opened', marks.opened && row !== null);
    if (row) this.show(row, marks);
  }

  private arrange(layout: Layout): void {
    this.layout = layout;
    const shown = layout.columns.map(({ id }) => id);
    for (const [id, cell] of this.cells) {
      setHidden(cell, !shown.includes(id));
      setAttribute(cell, 'aria-colindex', String(shown.indexOf(id) + 1));
    }
    this.plain = layout.columns.filter(({ id }) => !DRAWN.includes(id));
  }

  private show(row: Row, marks: RowMarks): void {
    const { element } = this;
    const { id, file, line, trend, source } = row;
    setAttributes(element, { 'data-id': id, 'data-file': file, 'data-line': line, 'data-trend': trend });
    const tone = row.verdict ? WORDS.states[row.verdict.state].tone : '';
    setAttributes(element, { 'data-source': source, 'data-tone': tone });
    element.classList.toggle('no-line', row.line === 0 && row.function === '');
    this.showName(row, marks);
    this.showTree(row);
    this.showLive(row, marks.fullBytes);
    setAttribute(this.trend, 'class', `codicon codicon-${TREND_ICONS[row.trend] || 'blank'}`);
    setText(this.growth, growthText(row.growth, row.trend));
    setAttribute(this.line, 'points', row.spark ? sparkPoints(row.spark, SPARK_WIDTH, SPARK_HEIGHT) : '');
    for (const column of this.plain) setText(this.cell(column.id), column.text(row));
    setAttribute(this.cell('thread'), 'title', row.thread);
  }

  private showName(row: Row, { verdict, oneFile }: RowMarks): void {
    const [name, number] = splitName(row.primary);
    const setterOf = (text: string) => (text === row.function ? setFunction : setName);
    setterOf(row.primary)(this.primary, oneFile && number !== '' ? '' : name);
    setText(this.at, number);
    setterOf(row.secondary)(this.secondary, row.secondary);
    setAttribute(this.cell('site'), 'title', row.title);
    setHidden(this.mark, !isOfBackward(row.source));
    const words = verdict && row.verdict ? WORDS.states[row.verdict.state] : null;
    setHidden(this.verdict, !words?.short);
    setText(this.verdict, words?.short ?? '');
    const why = new Set([row.verdict?.because, words?.sentence]); // which may say the same
    setAttribute(this.verdict, 'title', words ? withoutCode([...why].join('\n')) : '');
  }

  private showTree({ tree }: Row): void {
    const { element, twisty } = this;
    this.cell('site').style.paddingLeft = tree ? `${(tree.level - 1) * INDENT_PX}px` : '';
    setHidden(twisty, tree === null);
    const expanded = tree?.expanded ?? null;
    const ariaExpanded = expanded === null ? null : String(expanded);
    setAttributes(element, { 'aria-expanded': ariaExpanded, 'aria-level': tree?.level ?? null });
    const name = expanded === null ? 'blank' : expanded ? 'chevron-down' : 'chevron-right';
    setAttribute(twisty, 'class', `codicon codicon-${name} twisty`);
  }

  private showLive({ liveBytes, peakBytes, hueName }: Row, fullBytes: number): void {
    setText(this.live, formatBytes(liveBytes));
    setAttribute(this.cell('live'), 'title', t('{0} bytes, peak {1}', formatCount(liveBytes), formatBytes(peakBytes)));
    const hue = hueName === '' ? null : hueOf(hueName);
    this.bar.style.setProperty('--hue', hue === null ? '' : hueStyle(hue.hue));
    this.bar.style.setProperty('--strength', hue === null ? '' : String(strengthOf(hue)));
    this.bar.style.width = `${fullBytes > 0 ? Math.min(100, (liveBytes / fullBytes) * 100).toFixed(1) : 0}%`;
  }

  private cell(id: ColumnId): HTMLElement {
    return this.cells.get(id)!;
  }
}

function rowButton(name: string, picture: string, label: string): HTMLElement {
  const attributes = { type: 'button', class: name, tabindex: -1, 'aria-label': label, title: label };
  return el('button', attributes, icon(picture));
}
