// A peak, explained: when it was, what it was made of, and what lowering it gives.
import { t } from '@vscode/l10n';
import { fileLine, formatBytes, formatCount } from '../../../extension/text/format';
import { moduleText } from '../../../extension/text/moduleText';
import type { PeakCard } from '../../../extension/protocol/requests/timelineRequests';
import { button, el, setAttribute, setHidden, setText } from '../../dom';
import { lineLink, type OpenLine } from '../common/lineLink';
import { withCode } from '../common/named';
import { WORDS } from '../common/vocabularyWords';

interface Share {
  name: string;
  /** What it may be; absent: the name says it. */
  hint?: string;
  bytes: number;
}

const UNNAMED = t('New gradients, inputs and temporary tensors: within the step, they have no purpose yet.');

export class PeakCardView {
  readonly element = el('section', { class: 'peak-card', 'aria-label': t('Peak breakdown'), hidden: true });
  private readonly sentence = el('p', {});
  /** What builds up to it, and what to do: ahead of what it consists of. */
  private readonly causes = el('div', {});
  private readonly parts = el('div', { class: 'peak-parts' });
  /** In a side panel the parts take the room of everything else, until they are opened. */
  private readonly toggle = button('link', 'peak-parts', '', () => this.fold(!this.folded));
  private folded = true;
  private shown: PeakCard | null = null;

  constructor(private readonly openLine: OpenLine) {
    this.element.append(this.sentence, this.causes, this.toggle, this.parts);
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
    const categories = card.categories.map(({ category, bytes }) => ({
      name: WORDS.categories[category],
      bytes,
      ...(category === 'unnamed' && { hint: UNNAMED }),
    }));
    const modules = card.modules.map(({ label, bytes }) => ({ name: moduleText(label, t), bytes }));
    const more = card.modulesLeftOut === 0 ? '' : t('and {0} more', formatCount(card.modulesLeftOut));
    this.sentence.replaceChildren(...withCode(card.sentence), ...this.at(card.place));
    this.causes.replaceChildren(...card.buildUp.map(one => el('p', { class: 'peak-cause' }, ...this.linked(one))));
    this.parts.replaceChildren(
      shares(t('By purpose'), categories, card.bytes),
      shares(t('By module'), modules, card.bytes, more),
      ...(card.next === '' ? [] : [el('p', { class: 'dim' }, ...withCode(card.next))]),
    );
  }

  private at(place: PeakCard['place']): (Node | string)[] {
    return place === null ? [] : [` ${t('at')} `, lineLink(place, this.openLine)];
  }

  /** The line in the sentence is the link; behind it where the sentence names no line. */
  private linked({ sentence, place }: Pick<PeakCard, 'sentence' | 'place'>): (Node | string)[] {
    if (place === null) return withCode(sentence);
    const name = fileLine(place.file, place.line);
    const at = placeOf(name, sentence);
    const [before, after] = at < 0 ? [`${sentence} `, ''] : [sentence.slice(0, at), sentence.slice(at + name.length)];
    return [...withCode(before), lineLink(place, this.openLine), ...withCode(after)];
  }
}

/** Where a line is named last: `train.py:1` is not in `train.py:18`, nor in `my_train.py:1`. */
function placeOf(name: string, sentence: string): number {
  const whole = new RegExp(`(?<![\\w/.-])${name.replaceAll(/[^\w:]/g, '\\$&')}(?!\\d)`, 'g');
  return [...sentence.matchAll(whole)].at(-1)?.index ?? -1;
}

/** Each part with a bar in no colour of a line: beside it, lines have theirs. */
function shares(title: string, parts: readonly Share[], bytes: number, more = ''): HTMLElement {
  const rows = parts.map(({ name, hint = '', bytes: own }) => {
    const percent = el('span', { class: 'dim number' }, t('{0}%', Math.round((100 * own) / bytes)));
    const row = el(
      'li',
      { class: 'peak-share', title: hint },
      el('b', { class: 'number' }, formatBytes(own)),
      ` ${name} `,
      percent,
    );
    row.style.setProperty('--share', `${(100 * own) / bytes}%`);
    return row;
  });
  const rest = more === '' ? [] : [el('li', { class: 'dim' }, more)];
  const head = el('li', { class: 'dim', 'aria-hidden': 'true' }, title);
  return el('ul', { 'aria-label': title, class: 'peak-shares' }, head, ...rows, ...rest);
}
