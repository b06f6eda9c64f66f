// One bar for each card whose parts sum to its total; what is not known is hatched.
import { t } from '@vscode/l10n';
import type {
  CardLedger,
  LedgerLine,
  LedgerPart,
  LedgerPartKind,
} from '../../../extension/protocol/requests/ledgerRequests';
import { formatBytes } from '../../../extension/text/format';
import { libraryName } from '../../../extension/text/libraryName';
import type { LedgerLibrary } from '../../../extension/protocol/verdicts';
import { button, differs, el, icon, setAttribute, setHidden, setText } from '../../dom';
import { cardText, PART_WORDS, partWidths, slopeText, usedText } from './ledgerText';
import { deviceText } from '../common/threadNames';
import { lineLink, type OpenLine } from '../common/lineLink';

const KINDS = Object.keys(PART_WORDS) as LedgerPartKind[];

/** One part in the legend. */
class KeyView {
  readonly element: HTMLElement;
  private readonly bytes = el('span', { class: 'number' });
  private readonly slope = el('span', { class: 'slope number' });

  constructor(kind: LedgerPartKind) {
    const [name, meaning] = PART_WORDS[kind];
    const attributes = { class: 'key', role: 'listitem', title: meaning, 'data-key': kind };
    this.element = el('span', attributes, el('i', { 'data-part': kind }), `${name} `, this.bytes, ' ', this.slope);
  }

  update(part: LedgerPart | undefined): void {
    setHidden(this.element, part === undefined || (part.bytes === 0 && part.kind !== 'free'));
    if (!part) return;
    setText(this.bytes, formatBytes(part.bytes));
    setAttribute(this.bytes, 'data-bytes', String(part.bytes));
    setText(this.slope, slopeText(part));
  }
}

function libraryKey(library: LedgerLibrary): HTMLElement {
  const name = library.path === '' ? t('other') : library.name;
  const slope = el('span', { class: 'slope number' }, slopeText(library));
  const bytes = el('span', { class: 'number', 'data-library-bytes': library.bytes }, formatBytes(library.bytes));
  return el('span', { class: 'key', title: library.path, 'data-library': library.path }, `${name} `, bytes, ' ', slope);
}

class CardView {
  readonly element: HTMLElement;
  readonly legend: HTMLElement;
  private readonly index = el('span', {});
  private readonly model = el('span', { class: 'ledger-model' });
  private readonly name = el('span', { class: 'ledger-name' }, this.index, this.model);
  private readonly used = el('span', {});
  private readonly total = el('span', { class: 'ledger-total' });
  private readonly whole = el(
    'span',
    { class: 'ledger-whole number', title: t('Used, out of the GPU’s total') },
    this.used,
    this.total,
  );
  private readonly bar = el('div', { class: 'ledger-bar', role: 'img' });
  private readonly segments = new Map(KINDS.map(kind => [kind, el('i', { 'data-part': kind })]));
  private readonly keys = new Map(KINDS.map(kind => [kind, new KeyView(kind)]));
  private readonly libraries = el('div', { class: 'ledger-libraries dim' });
  private readonly lines = el('div', { class: 'ledger-lines dim' });

  constructor(private readonly openLine: OpenLine) {
    this.bar.append(...this.segments.values());
    const keys = el('div', { class: 'keys', role: 'list' }, ...[...this.keys.values()].map(key => key.element));
    const legend = el('div', { class: 'ledger-legend' }, keys, this.libraries, this.lines);
    this.legend = legend;
    this.element = el('div', { class: 'ledger-device' }, this.name, this.bar, this.whole);
  }

  update(card: CardLedger): void {
    setAttribute(this.element, 'data-device', String(card.device));
    setAttribute(this.element, 'data-total-bytes', String(card.totalBytes));
    setText(this.index, deviceText(card.device, 'driver'));
    setText(this.model, ` ${card.name}`);
    setAttribute(this.name, 'title', card.name);
    setText(this.used, usedText(card));
    setText(this.total, card.totalBytes > 0 ? ` / ${formatBytes(card.totalBytes)}` : '');
    const parts = new Map(card.parts.map(part => [part.kind, part]));
    const widths = partWidths(card);
    card.parts.forEach(({ kind }, i) => (this.segments.get(kind)!.style.width = `${widths[i]!.toFixed(3)}%`));
    for (const [kind, segment] of this.segments) setHidden(segment, (parts.get(kind)?.bytes ?? 0) === 0);
    for (const [kind, key] of this.keys) key.update(parts.get(kind));
    // Of a size that is not known nothing is a part: a bar of what is known would look full.
    this.bar.style.visibility = card.totalBytes > 0 ? '' : 'hidden';
    setAttribute(this.bar, 'aria-label', cardText(card));
    setAttribute(this.bar, 'title', cardText(card).replace(': ', '\n').replaceAll('; ', '\n'));
    const { libraries = [], lines = [] } = parts.get('driver') ?? {};
    this.showCallers(this.libraries, t('other driver, by library:'), libraries, libraryKey);
    this.showCallers(this.lines, t('other driver, by line:'), lines, line =>
      el('span', { class: 'key' }, this.lineOf(line), ` ${formatBytes(line.bytes)}`),
    );
  }

  /** The callers of the driver for what lies outside the framework's allocator. */
  private showCallers<T>(list: HTMLElement, name: string, callers: readonly T[], keyOf: (one: T) => HTMLElement): void {
    if (!differs(list, callers)) return;
    const title = callers.length > 0 ? [el('span', {}, name)] : [];
    list.replaceChildren(...title, ...callers.map(keyOf));
  }

  private lineOf(line: LedgerLine): Node | string {
    if (line.line > 0) return lineLink(line, this.openLine);
    return line.function || libraryName(line.library) || t('no Python line');
  }
}

export class LedgerView {
  readonly element = el('section', { class: 'ledger', 'aria-label': t('GPU memory') });
  /** What the parts of the bars are: with their bytes where there is one card. */
  readonly legend = el('section', { class: 'ledger-keys', 'aria-label': t('Parts of the GPU memory') });
  private readonly list = el('div', { class: 'ledger-list' });
  private readonly shared = new Map(
    KINDS.map(kind => [kind, el('span', { class: 'key', title: PART_WORDS[kind][1] })]),
  );
  private readonly cards: CardView[] = [];

  private readonly chevron = icon('chevron-right');
  private readonly toggle = button('ledger-toggle', null, '', () => this.setOpen(!this.open));
  private open = false;

  constructor(private readonly openLine: OpenLine) {
    this.toggle.append(this.chevron);
    setAttribute(this.toggle, 'aria-label', t('GPU memory breakdown'));
    this.setOpen(false);
    for (const [kind, key] of this.shared) key.append(el('i', { 'data-part': kind }), PART_WORDS[kind][0]);
    this.element.append(this.toggle, this.list);
    this.legend.append(el('div', { class: 'keys shared' }, ...this.shared.values()));
  }

  /** In a narrow panel the legend is folded away. */
  private setOpen(open: boolean): void {
    this.open = open;
    this.legend.classList.toggle('open', open);
    setAttribute(this.toggle, 'aria-expanded', String(open));
    setAttribute(this.chevron, 'class', `codicon codicon-chevron-${open ? 'down' : 'right'}`);
  }

  update(cards: readonly CardLedger[]): void {
    while (this.cards.length < cards.length) {
      const view = new CardView(this.openLine);
      this.cards.push(view);
      this.list.append(view.element);
      this.legend.append(view.legend);
    }
    for (const { element, legend } of this.cards.splice(cards.length))
      for (const part of [element, legend]) part.remove();
    cards.forEach((card, i) => this.cards[i]!.update(card));
    for (const part of [this.element, this.legend]) part.classList.toggle('many', cards.length > 1);
    setHidden(this.legend, cards.length === 0);
    setHidden(this.toggle, cards.length === 0);
    for (const [kind, key] of this.shared)
      setHidden(key, !cards.some(card => card.parts.some(part => part.kind === kind && part.bytes > 0)));
  }
}
