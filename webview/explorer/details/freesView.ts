// The lines that free the blocks of a stack, and whether they still do.
import { t } from '@vscode/l10n';
import type { FreeLine } from '../../../extension/protocol/trace';
import { differs, el, setTextOrHide } from '../../dom';
import { timesSeenText } from '../common/counts';
import { lineLink, type OpenLine } from '../common/lineLink';

/** So many steps without a free are worth a word. */
const QUIET_STEPS = 2;
const SAMPLED = t('Frees of tensors are sampled: one in 8 to one in 32 per thread.');

export class FreesView {
  readonly element: HTMLElement;
  readonly title = el('h3', { class: 'dim', tabindex: -1 }, t('Freed by'));
  private readonly list = el('ol', { class: 'stack', 'data-value': 'frees' });
  private readonly none = el('p', { class: 'dim' });

  constructor(private readonly openLine: OpenLine) {
    this.element = el('div', { class: 'frees' }, this.title, this.list, this.none);
    this.hide();
  }

  hide(): void {
    this.element.hidden = true;
    differs(this.element);
  }

  /** @param steps that have ended; 0: not known */
  show(lines: readonly FreeLine[], steps: number, growing: boolean): void {
    if (!differs(this.element, lines, steps, growing)) return;
    this.element.hidden = false;
    this.list.replaceChildren(...lines.map(line => this.item(line, steps, growing)));
    this.list.hidden = lines.length === 0;
    this.none.title = SAMPLED;
    setTextOrHide(this.none, lines.length === 0 ? t('None of these blocks is among the sampled frees.') : '');
  }

  private item(free: FreeLine, steps: number, growing: boolean): HTMLElement {
    const frame = free.frames[free.userFrame] ?? free.frames[0];
    const quiet = quietSince(free, steps);
    const style = quiet !== '' && growing ? 'alarming' : 'dim';
    const words = el(
      'span',
      { class: style, 'data-value': 'last-free', title: SAMPLED },
      quiet || timesSeenText(free.count),
    );
    const name = el('span', { class: 'dim' }, `${frame?.function ?? t('no Python line')} · `);
    const link = frame && frame.line > 0 ? [lineLink(frame, this.openLine), ' '] : [];
    return el('li', { class: 'frame' }, ...link, name, words);
  }
}

/** `last in step 3` where a line freed once and does no more; '' where it still does. */
export function quietSince({ lastStep }: Pick<FreeLine, 'lastStep'>, steps: number): string {
  return steps - lastStep >= QUIET_STEPS ? t('last in step {0}', lastStep) : '';
}
