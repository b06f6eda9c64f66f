// What was found, above the timeline: one card a finding, leaks first; or why there is none.
import { t } from '@vscode/l10n';
import type { FindingsView, FindingView, OverallVerdict } from '../../../extension/protocol/requests/verdictRequests';
import { isLeak } from '../../../extension/protocol/verdicts';
import { formatCount } from '../../../extension/text/format';
import { button, differs, el, icon, onFrame, setAttribute, setHidden, setText, setTextOrHide } from '../../dom';
import { lastStepText } from '../common/counts';
import { FindingCard, type InquiryMethod } from './card';
import { shownFindings } from './logic';
import type { Action } from '../state/state';
import { PolledPart, type PageActions, type PageContext } from '../state/part';

const INTERVAL_MS = 1_000;
const PADDING_PX = 4;
const ICONS: Record<OverallVerdict, string> = {
  waiting: 'watch',
  lost: 'warning',
  partial: 'warning',
  after: 'warning',
  rising: 'warning',
  clean: 'pass',
  found: 'bug',
};

export class FindingsPart extends PolledPart {
  readonly element = el('section', { class: 'findings', 'aria-label': t('Findings') });
  private readonly mark = icon('watch');
  private readonly sentence = el('span', { 'data-value': 'standing' });
  /** Nothing leaks, yet this makes the peak. */
  private readonly builtUp = button('link', 'built-up', '', () => this.showPeak());
  private readonly summary = el(
    'p',
    { class: 'standing', role: 'status' },
    this.mark,
    this.sentence,
    ' ',
    this.builtUp,
  );
  private readonly list = el('div', { class: 'finding-list' });
  private readonly more = button('link', 'all-findings', '', () => {
    this.all = !this.all;
    this.draw();
  });
  private readonly cards = new Map<string, FindingCard>();
  private view: FindingsView | null = null;
  /** It counts steps that the header does not show yet. */
  private early: FindingsView | null = null;
  private all = false;
  private fixed: readonly string[] = [];
  private newer: number | null = null;
  /** The header counts steps. */
  private counts = false;
  /** The first card is open, until one is used. */
  private first: FindingCard | undefined;
  private used = false;
  /** Those that are open once there is room for them again; null while there is. */
  private folded: FindingCard[] | null = null;
  private timer: number | undefined;
  private generation = 0;
  /** Its card is to be opened once it is there. */
  private revealId: string | null = null;
  constructor(
    page: PageActions,
    private readonly showPeak: () => void,
  ) {
    super(page, INTERVAL_MS);
    setHidden(this.builtUp, true);
    this.list.addEventListener('click', () => (this.used = true));
    this.element.append(this.summary, this.list, this.more);
    setHidden(this.element, true);
    new ResizeObserver(() => this.keepRoom()).observe(this.list);
  }

  /** What is read first of an open card keeps its room, whatever else stands on the page. */
  private keepRoom(): void {
    const most = Math.max(0, ...[...this.cards.values()].map(({ headPx }) => headPx));
    const { list, summary } = this;
    const above = PADDING_PX + (summary.offsetHeight > 0 ? list.offsetTop - summary.offsetTop : 0);
    this.element.style.setProperty('--gm-head', most > 0 ? `${above + most}px` : '');
  }

  override update({ info, session }: PageContext): void {
    const { fixed = [] } = session;
    const newer = session.newer ?? null;
    this.takeEarly();
    // The sentence is not to wait for steps that the header has.
    const counts = lastStepText(info) !== '';
    if (counts !== this.counts) this.poller.invalidate(true);
    this.counts = counts;
    if (fixed.join() === this.fixed.join() && newer === this.newer) return;
    this.fixed = fixed;
    this.newer = newer;
    this.draw();
  }

  /** Another tab begins at the first card. */
  override changed({ type }: Action): void {
    if (type === 'tab') this.element.scrollTop = 0;
  }

  forget(): void {
    this.generation++;
    this.view = this.early = null;
    this.all = false;
    this.first = undefined;
    this.used = false;
    if (this.folded !== null) this.folded = [];
    this.cards.clear();
    this.list.replaceChildren();
    setHidden(this.element, true);
    clearTimeout(this.timer);
  }

  /** Each card is a row while what stands below them needs the room. */
  fold(fold: boolean): void {
    if (fold === (this.folded !== null)) return;
    const cards = this.folded ?? [...this.cards.values()].filter(card => card.isOpen);
    for (const card of cards) card.setOpen(!fold);
    this.folded = fold ? cards : null;
  }

  judged(): void {
    this.poller.invalidate(true);
  }

  /** Opens the card of a finding and puts the focus on it, now or when it is known. */
  reveal(id: string): void {
    this.revealId = id;
    this.draw();
    this.poller.invalidate(true);
  }

  protected async load(): Promise<void> {
    if (this.page.now() === null) return;
    const { generation } = this;
    const view = await this.page.request('findings', undefined);
    if (view === undefined || generation !== this.generation) return;
    this.early = view;
    this.takeEarly();
    void this.loadBuiltUp(view);
    clearTimeout(this.timer);
    if (view.stale) this.timer = setTimeout(() => this.poller.invalidate(true), INTERVAL_MS);
  }

  /** Header and sentence are of one moment. */
  private takeEarly(): void {
    const { early } = this;
    const { session, info } = this.page.now() ?? {};
    if (early === null || (session?.phase === 'running' && early.revision > (info?.revision ?? 0))) return;
    this.view = early;
    this.early = null;
    onFrame(this.draw);
  }

  /** Once a run without a leak has ended. */
  private async loadBuiltUp({ overall }: FindingsView): Promise<void> {
    const { session, info } = this.page.now() ?? {};
    const trace = overall === 'clean' && session?.phase === 'ended' ? info?.startRealtimeMs : undefined;
    if (!differs(this.builtUp, trace)) return;
    setHidden(this.builtUp, true);
    if (trace !== undefined) setTextOrHide(this.builtUp, (await this.page.request('builtUp', undefined)) ?? '');
  }

  private readonly draw = (): void => {
    const { view } = this;
    if (view === null) return;
    setHidden(this.element, false);
    setAttribute(this.element, 'data-standing', view.overall);
    setAttribute(this.mark, 'class', `codicon codicon-${ICONS[view.overall]}`);
    setText(this.sentence, view.sentence);
    this.all ||= !shownFindings(view.findings, false).some(({ id }) => id === this.revealId) && this.revealId !== null;
    const shown = shownFindings(view.findings, this.all);
    const hidden = view.findings.length - shownFindings(view.findings, false).length;
    setHidden(this.more, hidden === 0);
    setText(this.more, this.all ? t('Show fewer') : t('Show {0} more', formatCount(hidden)));
    const ids = new Set(view.findings.map(finding => finding.id));
    for (const id of [...this.cards.keys()].filter(id => !ids.has(id))) this.cards.delete(id);
    const toCheck = shown.find(({ id }) => this.fixed.includes(id));
    const elements = shown.map(finding => {
      const card = this.cards.get(finding.id) ?? this.makeCard(finding);
      card.update(finding, this.fixed.includes(finding.id), finding === toCheck, this.newer);
      return card.element;
    });
    // Moving an element would take the focus from what is in it.
    const { children } = this.list;
    const same = children.length === elements.length && elements.every((element, i) => children[i] === element);
    if (!same) this.list.replaceChildren(...elements);
    const leaks = view.findings.filter(isLeak);
    const fixed = leaks.length > 0 && leaks.every(({ id }) => this.fixed.includes(id));
    this.element.toggleAttribute('data-fixed', fixed);
    this.element.toggleAttribute('data-alone', elements.length === 1 && hidden === 0);
    this.openFirst(this.cards.get(shown[0]?.id ?? ''));
    const card = this.revealId === null ? undefined : this.cards.get(this.revealId);
    if (card === undefined) return;
    this.revealId = null;
    this.used = true;
    card.reveal();
  };

  private openFirst(card: FindingCard | undefined): void {
    if (this.used || card === this.first) return;
    this.first?.setOpen(false);
    if (this.folded === null) card?.setOpen(true);
    else this.folded = card === undefined ? [] : [card];
    this.first = card;
  }

  private makeCard(finding: FindingView): FindingCard {
    const card = new FindingCard(finding, this.page, (method, id) => void this.inquire(method, id));
    this.cards.set(finding.id, card);
    return card;
  }

  /** The answer of the process comes with the findings. */
  private async inquire(method: InquiryMethod, finding: string): Promise<void> {
    await this.page.request(method, { finding });
    this.poller.invalidate(true);
  }
}
