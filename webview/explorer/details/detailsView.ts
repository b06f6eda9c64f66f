// Details in the table's place or beside it: the stack of what is selected, one of its live blocks, the lines that free them, all of them.
import { t } from '@vscode/l10n';
import type { LineSource, Site } from '../../../extension/protocol/trace';
import { badge, iconButton } from '../../components';
import { el, setText } from '../../dom';
import type { OpenLine } from '../common/lineLink';
import type { BlockList } from './blockList';
import type { BlockView } from './blockView';
import { FreesView } from './freesView';
import type { DetailsSection } from '../state/part';
import { StackView } from './stackView';
import type { Subject } from '../state/subject';

const SOURCES: Record<LineSource, readonly [string, string]> = {
  python: ['', ''],
  none: ['', ''],
  'before-attach': [t('pre-existing'), t('Allocated before recording started; the line is unknown')],
  forward: [t('backward of'), t('Allocated by autograd; the stack shows the matching forward operation')],
  'forward-near': [
    t('backward of (nearest)'),
    t('Allocated by autograd; the stack shows the nearest earlier forward operation on the same thread'),
  ],
  'backward-call': [
    t('in backward()'),
    t('Allocated by autograd; the forward line is unknown, so the stack shows the backward() call'),
  ],
};
const STACKS: Partial<Record<LineSource, string>> = {
  forward: t('Stack of the forward operation'),
  'forward-near': t('Stack of the nearest forward operation'),
  'backward-call': t('Stack of the backward() call'),
};

export class DetailsView {
  readonly element: HTMLElement;
  private readonly title = el('h2', {});
  private readonly summary = el('div', { class: 'dim number' });
  private readonly source = badge('source');
  private readonly stackTitle = el('h3', { class: 'dim', tabindex: -1 });
  private readonly stack: StackView;
  private readonly upper: HTMLElement;
  readonly frees: FreesView;

  constructor(
    openLine: OpenLine,
    close: () => void,
    /** The pane takes room from the table from now on, or no longer. */
    private readonly opened: (open: boolean) => void,
    blocks: BlockList,
    block: BlockView,
  ) {
    this.stack = new StackView(openLine);
    this.frees = new FreesView(openLine);
    // Where the details take the table's place, the way back is on the left; elsewhere they are closed on the right.
    const back = iconButton('back', 'arrow-left', t('Back to the table'), close);
    const closing = iconButton('close-details', 'close', t('Close'), close);
    const head = el('div', { class: 'details-head' }, back.element, this.title, this.source.element, closing.element);
    this.element = el('section', { class: 'details', 'aria-label': t('Details of the selection') });
    const stack = el('div', {}, this.stackTitle, this.stack.element);
    this.upper = el('div', { class: 'details-upper' }, this.summary, stack, block.element, this.frees.element);
    this.element.append(head, el('div', { class: 'details-body' }, this.upper, blocks.element));
    this.element.hidden = true;
  }

  private setOpen(open: boolean): void {
    if (this.element.hidden !== open) return;
    this.element.hidden = !open;
    this.opened(open);
  }

  hide(): void {
    this.setOpen(false);
    this.stack.show(null);
    this.frees.hide();
  }

  /** Brings a section into view, with the focus; the page around the details stays where it is. */
  reveal(section: DetailsSection): void {
    this.frees.element.hidden = false;
    const title = section === 'frees' ? this.frees.title : this.stackTitle;
    this.upper.scrollTop += title.getBoundingClientRect().top - this.upper.getBoundingClientRect().top;
    title.focus({ preventScroll: true });
  }

  /** What is known already, while the rest is on its way. */
  begin(subject: Subject): void {
    this.setOpen(true);
    setText(this.title, subject.title);
    this.title.title = subject.tooltip;
    setText(this.summary, subject.summary);
  }

  showStack(site: Site | null): void {
    const [word, meaning] = site ? SOURCES[site.source] : ['', ''];
    this.source.set(word, meaning);
    setText(this.stackTitle, (site && STACKS[site.source]) ?? t('Stack'));
    this.stack.show(site);
  }
}
