// A Python stack: each frame a link, library frames folded.
import { t } from '@vscode/l10n';
import type { Frame, Site } from '../../../extension/protocol/trace';
import { differs, el } from '../../dom';
import { lineLink, type OpenLine } from '../common/lineLink';
import { foldFrames, type StackItem } from '../common/stack';

export class StackView {
  private readonly list = el('ol', { class: 'stack' });
  private readonly note = el('p', { class: 'dim' }, t('No Python frame. The call came from native code.'));
  readonly element = el('div', {}, this.list, this.note);

  constructor(private readonly openLine: OpenLine) {
    this.note.hidden = true;
  }

  show(site: Site | null): void {
    if (!differs(this.element, site)) return;
    const frames = site?.frames ?? [];
    const user = site && site.userFrame >= 0 ? frames[site.userFrame] : undefined;
    this.list.replaceChildren(...foldFrames(frames).map(item => this.item(item, user)));
    if (site?.cut) this.list.append(el('li', { class: 'dim', 'data-cut': true }, t('Truncated at 128 frames')));
    this.note.hidden = site === null || frames.length > 0;
  }

  private item(item: StackItem, user: Frame | undefined): HTMLElement {
    if (item.kind === 'frame') return this.frame(item.frame, item.library, item.frame === user);
    const inner = el('ol', { class: 'stack' }, ...item.frames.map(frame => this.frame(frame, true, false)));
    const summary = el('summary', { class: 'dim' }, item.label);
    return el('li', { class: 'folded' }, el('details', {}, summary, inner));
  }

  private frame(frame: Frame, library: boolean, user: boolean): HTMLElement {
    const kind = `frame${library ? ' library' : ''}${user ? ' user' : ''}`;
    return el('li', { class: kind }, lineLink(frame, this.openLine), ' ', el('span', { class: 'dim' }, frame.function));
  }
}
