// Who frees the blocks of a stack, and whether they still do.
import { t } from '@vscode/l10n';
import type { FreeLine } from '../../../extension/protocol/steps';
import { el, setText } from '../../dom';
import { timesSeenText } from '../common/counts';
import { lineLink } from '../common/lineLink';

/** So many steps without a free are worth a word. */
const QUIET_STEPS = 2;

export class FreesView {
  readonly element: HTMLElement;
  readonly title = el('h3', { class: 'dim', tabindex: -1 }, t('Freed by'));
  private readonly list = el('ol', { class: 'stack', 'data-value': 'frees' });
  private readonly none = el('p', { class: 'dim' });
  private shown = '';

  constructor(private readonly openLine: (file: string, line: number) => void) {
    this.element = el('div', { class: 'frees' }, this.title, this.list, this.none);
    this.hide();
  }

  hide(): void {
    this.element.hidden = true;
    this.shown = '';
  }

  /** @param steps that have ended; 0: not known */
  show(lines: readonly FreeLine[], steps: number, growing: boolean): void {
    const key = JSON.stringify([lines, steps, growing]);
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = false;
    this.list.replaceChildren(...lines.map(line => this.item(line, steps, growing)));
    this.list.hidden = lines.length === 0;
    setText(this.none, lines.length === 0 ? t('No free of these blocks was seen.') : '');
    this.none.hidden = lines.length > 0;
  }

  private item(free: FreeLine, steps: number, growing: boolean): HTMLElement {
    const frame = free.frames[free.userFrame] ?? free.frames[0];
    const quiet = quietSince(free, steps);
    const words = el('span', { class: quiet !== '' && growing ? 'alarming' : 'dim', 'data-value': 'last-free' });
    words.title = t('Of tensors, a sample of the frees is looked at: each eighth to each 32nd of a thread.');
    setText(words, quiet || timesSeenText(free.count));
    const name = el('span', { class: 'dim' }, `${frame?.function ?? t('no Python line')} · `);
    return el('li', { class: 'frame' }, ...this.link(frame), name, words);
  }

  private link(frame: FreeLine['frames'][number] | undefined): (HTMLElement | string)[] {
    if (!frame || frame.line === 0) return [];
    return [lineLink(frame, this.openLine), ' '];
  }
}

/** `not since step 3` where a line freed once and does no more; '' where it still does. */
export function quietSince({ lastStep }: Pick<FreeLine, 'lastStep'>, steps: number): string {
  return steps - lastStep >= QUIET_STEPS ? t('not since step {0}', lastStep) : '';
}
