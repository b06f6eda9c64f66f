// A peak, explained: when it was, what it was made of, and what lowering it gives.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../extension/text/format';
import type { PeakCard } from '../../../extension/protocol/requests/timelineRequests';
import { button, el, setAttribute, setHidden, setText } from '../../dom';
import { lineLink, type OpenLine } from '../common/lineLink';
import { WORDS } from '../common/vocabularyWords';

interface Share {
  name: string;
  bytes: number;
}

/** Colours of `[data-group]`. */
const COLOURS = 6;

export class PeakCardView {
  readonly element = el('section', { class: 'peak-card', 'aria-label': t('Peak breakdown'), hidden: true });
  private readonly sentence = el('p', {});
  private readonly bar = el('div', { class: 'peak-bar', 'aria-hidden': 'true' });
  private readonly parts = el('div', { class: 'peak-parts' });
  /** In a side panel the parts take the room of everything else, until they are opened. */
  private readonly toggle = button('link', 'peak-parts', '', () => this.fold(!this.folded));
  private folded = true;
  private shown: PeakCard | null = null;

  constructor(private readonly openLine: OpenLine) {
    this.element.append(this.sentence, this.bar, this.toggle, this.parts);
    this.fold(true);
  }

  private fold(folded: boolean): void {
    this.folded = folded;
    this.element.classList.toggle('folded', folded);
    setAttribute(this.toggle, 'aria-expanded', String(!folded));
    setText(this.toggle, folded ? t('Show breakdown') : t('Hide breakdown'));
  }

  /** null: what is shown is no peak. */
  update(card: PeakCard | null): void {
    if (card === this.shown) return;
    this.shown = card;
    setHidden(this.element, card === null);
    if (card === null) return;
    const categories = card.categories.map(({ category, bytes }) => ({ name: WORDS.categories[category], bytes }));
    const modules = card.modules.map(({ label, bytes }) => ({ name: label, bytes }));
    const more = card.modulesLeftOut === 0 ? '' : t('and {0} more', formatCount(card.modulesLeftOut));
    this.sentence.replaceChildren(card.sentence, ...this.at(card.place));
    this.bar.replaceChildren(...pieces(categories, card.bytes));
    const cause = { class: 'peak-cause' };
    this.parts.replaceChildren(
      ...card.buildUp.map(one => el('p', cause, one.sentence, ...this.linkTo(one.place))),
      shares(t('By purpose'), categories, card.bytes, true),
      shares(t('By module'), modules, card.bytes, false, more),
      ...(card.next === '' ? [] : [el('p', { class: 'dim' }, card.next)]),
    );
  }

  private at(place: PeakCard['place']): (Node | string)[] {
    return place === null ? [] : [` ${t('at')}`, ...this.linkTo(place)];
  }

  private linkTo(place: PeakCard['place']): (Node | string)[] {
    return place === null ? [] : [' ', lineLink(place, this.openLine)];
  }
}

/** All parts side by side, as wide as their bytes. */
function pieces(parts: readonly Share[], bytes: number): HTMLElement[] {
  return parts.map(({ bytes: own }, at) => {
    const piece = el('i', { 'data-group': at % COLOURS });
    piece.style.width = `${(100 * own) / bytes}%`;
    return piece;
  });
}

/** `coloured`: each part has the colour that it has in the bar. */
function shares(title: string, parts: readonly Share[], bytes: number, coloured: boolean, more = ''): HTMLElement {
  const rows = parts.map(({ name, bytes: own }, at) =>
    el(
      'li',
      {},
      ...(coloured ? [el('i', { 'data-group': at % COLOURS, class: 'peak-swatch' })] : []),
      el('b', { class: 'number' }, formatBytes(own)),
      ` ${name} `,
      el('span', { class: 'dim number' }, t('{0}%', Math.round((100 * own) / bytes))),
    ),
  );
  const rest = more === '' ? [] : [el('li', { class: 'dim' }, more)];
  const head = el('li', { class: 'dim', 'aria-hidden': 'true' }, title);
  return el('ul', { 'aria-label': title, class: 'peak-shares' }, head, ...rows, ...rest);
}
