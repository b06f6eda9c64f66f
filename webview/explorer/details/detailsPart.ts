// The details with their data: the stack, the chosen block and its holder, the lines that free such blocks, the blocks of the selection.
import { t } from '@vscode/l10n';
import { NOW, untilOf, type Moment } from '../../../extension/protocol/requests/moment';
import type { Site } from '../../../extension/protocol/trace';
import { BlockList } from './blockList';
import { blockAt, blockKey, type Block } from '../common/blockRow';
import { BlockView } from './blockView';
import { DetailsView } from './detailsView';
import { PolledPart, type DetailsSection, type PageActions } from '../state/part';
import { FIGURES_MS } from '../state/poller';
import type { Row } from '../common/rows';
import { stackText } from '../common/stack';
import type { Action } from '../state/state';
import { subjectOf, type Subject } from '../state/subject';

export class DetailsPart extends PolledPart {
  private readonly view: DetailsView;
  private readonly list: BlockList;
  private readonly blockView: BlockView;
  private subject: Subject | null = null;
  private chosen: Block | null = null;
  private freed = false;
  private site: Site | null = null;

  constructor(
    page: PageActions,
    private readonly actions: { close(): void; opened(open: boolean): void },
  ) {
    super(page, FIGURES_MS);
    this.list = new BlockList({
      choose: block => this.choose(block),
      need: () => this.poller.invalidate(true),
    });
    this.blockView = new BlockView({
      openLine: page.openLine,
      queryProgram: () => void this.queryProgram(),
      copyAddress: () => void page.request('copyText', { text: this.chosen?.address ?? '' }),
      copyStack: () => void page.request('copyText', { text: stackText(this.site?.frames ?? []) }),
      close: () => this.choose(null),
    });
    const close = (): void => this.close();
    this.view = new DetailsView(page.openLine, close, actions.opened, this.list, this.blockView);
  }

  get element(): HTMLElement {
    return this.view.element;
  }

  /** Another row is selected, the same one has new figures, or none is; `section` is brought into view. */
  select(row: Row | null, section?: DetailsSection): void {
    const context = this.page.now();
    const ofModules = context?.view.table.tree && context.view.table.weight === 'modules'; // they have no stack
    // Where they would take the table's place, a row that is only passed shows none.
    const passed = section === undefined && this.element.hidden && !this.page.hasRoomBeside();
    this.setSubject(row && context && !ofModules && !passed ? subjectOf(row, context.view, context.layer) : null);
    if (row && section) this.view.reveal(section);
  }

  /** Shows a subject that is no row of the table; `block`: one of its blocks is chosen. */
  show(subject: Subject, block: Block | null): void {
    this.setSubject(subject);
    if (block) this.choose(block);
  }

  override update(): void {
    this.drawBlock();
  }

  override invalidate(): void {
    if (this.subject) this.poller.invalidate();
  }

  override changed(action: Action): void {
    if (action.type === 'moment' || action.type === 'layer') this.setSubject(null);
  }

  forget(): void {
    this.setSubject(null);
  }

  private close(): void {
    this.setSubject(null);
    this.actions.close();
  }

  private setSubject(subject: Subject | null): void {
    const another = subject?.key !== this.subject?.key;
    this.subject = subject;
    if (another) {
      this.chosen = null;
      this.list.forget();
      this.blockView.hide();
    }
    if (!subject) return this.view.hide();
    this.view.begin(subject);
    if (another) this.poller.invalidate(true);
  }

  private choose(block: Block | null): void {
    this.chosen = block;
    this.freed = false;
    this.list.mark(block ? blockKey(block) : '');
    this.blockView.showHolder(null);
    this.blockView.showReply('');
    if (!block) this.blockView.hide();
    this.drawBlock();
    if (block) this.blockView.element.scrollIntoView({ block: 'nearest' });
    this.poller.invalidate(true);
  }

  private drawBlock(): void {
    const context = this.page.now();
    if (!this.chosen || !context) return;
    const { info, runNs, session } = context;
    this.blockView.show(this.chosen, {
      processes: info.processes,
      nowNs: runNs,
      freed: this.freed,
      runs: session.phase === 'running',
    });
  }

  private async queryProgram(): Promise<void> {
    const { chosen } = this;
    if (!chosen) return;
    this.blockView.showReply(t('Querying the program…'));
    const { process, site, address } = chosen;
    const sentence = await this.page.request('inspectBlock', { process, site, address });
    if (!this.chosen || blockKey(this.chosen) !== blockKey(chosen)) return;
    this.blockView.showReply(sentence ?? '');
    this.poller.invalidate(true);
  }

  /** Whose stack is shown: the chosen block's, else the selection's. */
  private get siteId(): number | undefined {
    return this.chosen?.site ?? this.subject?.site;
  }

  private moment(): Moment {
    return this.page.now()?.view.moment ?? NOW;
  }

  protected async load(): Promise<void> {
    await Promise.all([this.loadStack(), this.loadFrees(), this.loadBlocks(), this.loadBlock()]);
  }

  private async loadStack(): Promise<void> {
    const id = this.siteId;
    if (id === undefined) return;
    const site = await this.page.request('site', { id, moment: this.moment() });
    if (site === undefined || id !== this.siteId) return;
    this.site = site;
    this.view.showStack(site);
  }

  private async loadFrees(): Promise<void> {
    const { subject, siteId: site } = this;
    const context = this.page.now();
    if (site === undefined || !context) return;
    const { moment } = context.view;
    const lines = await this.page.request('freeLines', { site, moment });
    if (!lines || this.subject?.key !== subject?.key || site !== this.siteId) return;
    // Of an earlier moment it is not known how many steps had ended.
    const steps = untilOf(moment) === null ? Math.max(0, ...context.info.steps.map(({ count }) => count)) : 0;
    this.view.frees.show(lines, steps, this.subject?.growing ?? false);
  }

  private async loadBlocks(): Promise<void> {
    const { subject } = this;
    if (!subject) return;
    const range = this.list.neededRange();
    const window = await this.page.request('allocations', { ...subject.blocks, ...range, moment: this.moment() });
    if (window && this.subject?.key === subject.key) this.list.show(window, range.from, subject.liveCount);
  }

  /** The chosen block may age, get a name or a holder, or be freed. */
  private async loadBlock(): Promise<void> {
    const { chosen } = this;
    if (!chosen || this.freed) return;
    const { process, site, address, timeNs } = chosen;
    const [window, holder] = await Promise.all([
      this.page.request('block', { process, site, address, moment: this.moment() }),
      this.page.request('blockHolder', { process, address, timeNs }),
    ]);
    if (this.chosen !== chosen || window === undefined) return;
    const block = window === null ? null : blockAt(window, 0);
    this.freed = block === null || block.timeNs !== timeNs;
    if (block && !this.freed) this.chosen = block;
    this.blockView.showHolder(holder ?? null);
    this.drawBlock();
  }
}
