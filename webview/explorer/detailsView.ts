// The selected row's whole Python stack: each frame a link, library frames folded, and how the line was found.
import type { Frame, LineSource, Site } from '../../extension/protocol/trace';
import { formatBytes, formatPlural } from '../../extension/protocol/format';
import { badge, iconButton } from '../components';
import { el, setText } from '../dom';
import type { Row } from './rows';
import { baseName, foldFrames, type StackItem } from './stack';

export interface DetailsActions {
  openLine(file: string, line: number): void;
  close(): void;
  /** The pane takes room from the table from now on. */
  appeared(): void;
}

const SOURCES: Record<LineSource, readonly [string, string]> = {
  python: ['', ''],
  none: ['', ''],
  'before-attach': ['before attach', 'Allocated before the tracer came to the process; its line is not known'],
  forward: ['backward of', 'Allocated by autograd; the stack is that of the forward operation it belongs to'],
  'forward-near': [
    'backward of, nearest',
    'Allocated by autograd; the nearest earlier forward operation of the same thread is shown',
  ],
  'backward-call': [
    'in backward()',
    'Allocated by autograd; no forward line is known, so the waiting backward() call is shown',
  ],
};

export class DetailsView {
  readonly element: HTMLElement;
  private readonly title = el('h2', {});
  private readonly summary = el('div', { class: 'dim number' });
  private readonly source = badge('source');
  private readonly stack = el('ol', { class: 'stack' });
  private readonly note = el('p', { class: 'dim' });
  private shownKey = '';

  constructor(private readonly actions: DetailsActions) {
    const close = iconButton('close-details', 'close', 'Close', () => actions.close());
    const head = el('div', { class: 'details-head' }, this.title, this.source.element, close.element);
    this.element = el('section', { class: 'details', 'aria-label': 'Python stack of the selected row' });
    this.element.append(head, this.summary, this.stack, this.note);
    this.element.hidden = true;
  }

  hide(): void {
    this.element.hidden = true;
    this.shownKey = '';
  }

  /** What the table already knows, while the stack is on its way. */
  begin(row: Row): void {
    if (this.element.hidden) this.actions.appeared();
    this.element.hidden = false;
    setText(this.title, row.primary);
    this.title.title = row.title;
    const blocks = formatPlural(row.liveCount, 'block');
    const place = row.thread === 'several' ? 'several threads' : row.thread;
    setText(this.summary, `${blocks} · ${formatBytes(row.liveBytes)} · peak ${formatBytes(row.peakBytes)} · ${place}`);
  }

  show(site: Site | null): void {
    const key = JSON.stringify(site);
    if (key === this.shownKey) return;
    this.shownKey = key;
    const [word, meaning] = site ? SOURCES[site.source] : ['', ''];
    this.source.set(word, meaning);
    const frames = site?.frames ?? [];
    const user = site && site.userFrame >= 0 ? frames[site.userFrame] : undefined;
    this.stack.replaceChildren(...foldFrames(frames).map(item => this.item(item, user)));
    if (site?.cut) this.stack.append(el('li', { class: 'dim', 'data-cut': true }, 'Cut here: deeper than 128 frames'));
    setText(this.note, frames.length === 0 ? 'No Python frame: the call came from native code.' : '');
    this.note.hidden = frames.length > 0;
  }

  private item(item: StackItem, user: Frame | undefined): HTMLElement {
    if (item.kind === 'frame') return this.frame(item.frame, item.library, item.frame === user);
    const inner = el('ol', { class: 'stack' }, ...item.frames.map(frame => this.frame(frame, true, false)));
    const summary = el('summary', { class: 'dim' }, item.label);
    return el('li', { class: 'folded' }, el('details', {}, summary, inner));
  }

  private frame(frame: Frame, library: boolean, user: boolean): HTMLElement {
    const place = `${baseName(frame.file)}:${frame.line}`;
    const attributes = { class: 'link', type: 'button', title: `${frame.file}:${frame.line}` };
    const link = el('button', { ...attributes, 'data-file': frame.file, 'data-line': frame.line }, place);
    link.addEventListener('click', () => this.actions.openLine(frame.file, frame.line));
    const kind = `frame${library ? ' library' : ''}${user ? ' user' : ''}`;
    return el('li', { class: kind }, link, ' ', el('span', { class: 'dim' }, frame.function));
  }
}
