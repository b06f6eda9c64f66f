// Everything that is known about one block.
import { t } from '@vscode/l10n';
import type { BlockHolder } from '../../../extension/protocol/requests/blockRequests';
import type { ProcessInfo } from '../../../extension/protocol/trace';
import { moduleText } from '../../../extension/text/moduleText';
import { formatDuration } from '../../../extension/text/format';
import { badge, iconButton } from '../../components';
import { differs, el, setText, setTextOrHide } from '../../dom';
import {
  ageText,
  requestedText,
  CATEGORY_WORDS,
  kindText,
  poolText,
  sizeText,
  streamText,
  type Block,
} from '../common/blockRow';
import { lineLink, type OpenLine } from '../common/lineLink';
import { deviceText, threadText } from '../common/threadNames';

export interface BlockViewActions {
  openLine: OpenLine;
  /** Queries the program about the block. */
  queryProgram(): void;
  copyAddress(): void;
  copyStack(): void;
  close(): void;
}
export interface BlockSurroundings {
  processes: readonly ProcessInfo[];
  /** Now, nanoseconds of the session. */
  nowNs: number;
  /** It is alive no more. */
  freed: boolean;
  /** Its program runs, and can be queried. */
  runs: boolean;
}

const TITLES = {
  asked: t('Requested'),
  size: t('Size'),
  name: t('Name'),
  category: t('Purpose'),
  module: t('Module'),
  age: t('Allocated'),
  device: t('Device'),
  stream: t('Stream'),
  pool: t('Pool'),
  kind: t('From'),
  thread: t('Thread'),
};
type Fact = keyof typeof TITLES;

export class BlockView {
  readonly element = el('section', { class: 'block', 'aria-label': t('Block details') });
  private readonly address = el('h3', { class: 'number', 'data-fact': 'address' });
  private readonly freed = badge('freed');
  private readonly facts = new Map<Fact, { row: HTMLElement; value: HTMLElement }>();
  private readonly holder = el('div', { class: 'holder', 'data-fact': 'holder' });
  private readonly queryButton: HTMLElement;
  private readonly reply = el('p', { class: 'dim', role: 'status', 'data-fact': 'reply' });

  constructor(private readonly actions: BlockViewActions) {
    const queryLabel = t('Query the program for the block’s holder, requested size, stream and pool');
    this.queryButton = iconButton('ask-block', 'question', queryLabel, () => actions.queryProgram()).element;
    const buttons = el(
      'span',
      { class: 'block-buttons' },
      this.queryButton,
      iconButton('copy-address', 'copy', t('Copy address'), () => actions.copyAddress()).element,
      iconButton('copy-stack', 'list-flat', t('Copy stack'), () => actions.copyStack()).element,
      iconButton('close-block', 'close', t('Back to the list'), () => actions.close()).element,
    );
    const list = el('dl', { class: 'facts' });
    for (const [fact, title] of Object.entries(TITLES) as [Fact, string][]) {
      const value = el('dd', { 'data-fact': fact });
      const row = el('div', {}, el('dt', { class: 'dim' }, title), value);
      this.facts.set(fact, { row, value });
      list.append(row);
    }
    const title = el('div', { class: 'block-title' }, this.address, this.freed.element, buttons);
    this.element.append(title, list, this.reply, this.holder);
    this.element.hidden = true;
  }

  hide(): void {
    this.element.hidden = true;
  }

  show(block: Block, { processes, nowNs, freed, runs }: BlockSurroundings): void {
    this.element.hidden = false;
    setText(this.address, block.address);
    this.queryButton.hidden = !runs || freed || block.layer !== 'tensor';
    this.freed.set(freed ? t('freed') : '', t('Freed after you selected it'));
    const facts: Record<Fact, string> = {
      asked: requestedText(block),
      size: sizeText(block),
      name: block.name,
      category: CATEGORY_WORDS[block.category],
      module: moduleText(block.module, t),
      age: ageText(block, nowNs),
      device: deviceText(block.device, block.layer),
      stream: block.layer === 'host' ? '' : streamText(block.stream),
      pool: poolText(block),
      kind: kindText(block.kind),
      thread: threadText(processes, block.process, block.thread),
    };
    for (const [fact, { row, value }] of this.facts) {
      setText(value, facts[fact]);
      row.hidden = facts[fact] === '';
    }
  }

  /** The outcome of the query to the program; empty: there was none, or the answer is in the facts. */
  showReply(sentence: string): void {
    setTextOrHide(this.reply, sentence);
  }

  /** @param holder null: no answer names the block */
  showHolder(holder: BlockHolder | null): void {
    if (!differs(this.holder, holder)) return;
    this.holder.hidden = holder === null;
    if (holder === null) return;
    const head = el('h4', { class: 'dim' }, t('Held by (at {0})', formatDuration(holder.timeNs)));
    const path = el('div', {}, `${holder.path} `);
    const { file, line } = holder;
    if (file !== null && line !== null) path.append(lineLink({ file, line }, this.actions.openLine));
    const chain = holder.chain.map(step => el('li', {}, step));
    this.holder.replaceChildren(head, path, el('ol', { class: 'chain dim' }, ...chain));
  }
}
