// Puts the parts of the page together: state in, requests out.
import { nameCells } from '../../../extension/protocol/notebookCells';
import { listedLayer } from '../../../extension/protocol/trace';
import { t } from '@vscode/l10n';
import type { BlockQuery } from '../../../extension/protocol/requests/blockRequests';
import { pointText, type ComparePoint } from '../../../extension/protocol/requests/compareRequests';
import type { Method, Params, Result, SessionView } from '../../../extension/protocol/requests/messages';
import { untilOf, type Moment } from '../../../extension/protocol/requests/moment';
import { NO_SESSION } from '../../../extension/protocol/requests/messages';
import type { OpenLine } from '../common/lineLink';
import { el, onFrame, setAttribute, setHidden } from '../../dom';
import { blockAt, type Block } from '../common/blockRow';
import type { RequestClient } from './client';
import { RunClock } from './clock';
import { ComparePart } from '../compare/comparePart';
import { RunBefore } from '../compare/runBefore';
import { DetailsPart } from '../details/detailsPart';
import { FindingsPart } from '../findings/findingsPart';
import { canFit, FitPart } from '../fit/fitPart';
import { FlamePart } from '../flame/flamePart';
import { Header, nothingIn } from './header';
import { LedgerPart } from '../ledger/ledgerPart';
import { LinesPart } from '../table/linesPart';
import { Notices } from './notices';
import type { DetailsSection, PageActions, PageContext, Part } from '../state/part';
import type { Row } from '../common/rows';
import { POLLERS } from '../state/poller';
import { reduce, scoped, type Action, type ViewState } from '../state/state';
import { SegmentPart } from '../segments/segmentsPart';
import { StateView } from './stateView';
import type { Subject } from '../state/subject';
import { Tabs } from './tabs';
import { Scopes } from './scopes';
import { TimelinePart } from '../timeline/timelinePart';

const CLOCK_MS = 1000;
/** What the timeline alone shows: a zoom in each frame draws nothing else. */
const OF_TIMELINE = new Set<Action['type']>([
  'zoom',
  'series',
  'stack',
  'axis',
  'tools',
  'timelinePx',
  'forecastBytes',
]);

/** The parts of the session that the questions of the parts depend on. */
function questionKey(context: PageContext | null): string {
  if (context === null) return '';
  const { info, layer, view } = context;
  return JSON.stringify([info.startRealtimeMs, layer, view.process, view.device]);
}

function hasSegments({ info: { totals } }: PageContext): boolean {
  return totals.some(({ segmentAllocations }) => segmentAllocations > 0);
}

export class App implements PageActions {
  readonly element = el('div', { class: 'explorer' });
  private session = NO_SESSION;
  /** So many choices of a moment the host has not answered yet. */
  private passing = 0;
  private readonly clock = new RunClock();
  private ticking: ReturnType<typeof setInterval> | undefined;
  readonly openLine: OpenLine = (file, line, focus) => void this.request('openLine', { file, line, ...focus });
  private readonly header = new Header(this);
  private readonly scopes = new Scopes(this);
  private readonly state = new StateView(
    what => void this.request(what, undefined),
    file => void this.request('openRecent', { file }),
    this.openLine,
  );
  private readonly notices = new Notices();
  private readonly runBefore = new RunBefore(this);
  private readonly findings = new FindingsPart(this, () => this.timeline.openPeak());
  private readonly ledger = new LedgerPart(this);
  private readonly timeline = new TimelinePart(this, () => onFrame(this.drawHeader));
  private readonly lines: LinesPart;
  private readonly tabs: Tabs;
  private readonly details: DetailsPart;
  /** From top to bottom. */
  private readonly parts: readonly Part[];
  private readonly trace = el('div', { class: 'trace' });
  private readonly lower = el('div', { class: 'lower' });

  constructor(
    private readonly client: RequestClient,
    private view: ViewState,
    private readonly save: (view: ViewState) => void,
  ) {
    this.lines = new LinesPart(this, view, () => onFrame(this.render));
    const drawn = (): void => onFrame(this.render);
    this.tabs = new Tabs(
      [
        { id: 'lines', title: t('Table'), part: this.lines },
        {
          id: 'flame',
          title: t('Flame graph'),
          short: t('Flame'),
          part: new FlamePart(this, drawn),
          follows: ['at', 'born'],
        },
        { id: 'segments', title: t('Segments'), part: new SegmentPart(this, drawn), follows: ['at'], has: hasSegments },
        { id: 'compare', title: t('Compare'), part: new ComparePart(this) },
        { id: 'fit', title: t('Fit'), part: new FitPart(this), has: canFit },
      ],
      view.tab,
      tab => this.dispatch({ type: 'tab', tab }),
    );
    this.details = new DetailsPart(this, {
      close: () => (this.hasRoomBeside() ? this.lines.table.clear() : this.lines.table.element.focus()),
      opened: open => {
        this.trace.toggleAttribute('data-details', open);
        // Two frames later the table has its new height.
        if (open) requestAnimationFrame(() => onFrame(() => this.lines.table.revealActive()));
      },
    });
    this.parts = [this.runBefore, this.ledger, this.timeline, this.findings, this.tabs, this.details];
    this.lower.append(this.tabs.element, this.details.element);
    this.trace.append(this.ledger.element, this.timeline.element, this.findings.element, this.ledger.legend);
    this.trace.append(this.lower);
    this.element.append(this.header.element, this.scopes.element, this.notices.element, this.state.element);
    this.element.append(this.trace);
    this.keepFacts();
    this.render();
  }

  /** Of a program that failed, why it did comes first. */
  private placeComparison(below: boolean): void {
    const [place, { element }] = [below ? this.findings.element : this.element, this.runBefore];
    if (element.parentElement !== place) place.insertBefore(element, below ? null : this.trace);
  }

  /** What the styles of one part follow from another, as attributes: with `:has()` each change anywhere would be matched anew. */
  private keepFacts(): void {
    const { element: findings } = this.findings;
    const { element: table } = this.lines.table;
    const observer = new MutationObserver(() => {
      const cards = findings.querySelector('.finding') !== null;
      this.trace.toggleAttribute('data-cards', cards);
      this.element.toggleAttribute('data-cards', cards);
      this.trace.toggleAttribute('data-open-card', findings.querySelector('.finding[data-open="true"]') !== null);
      this.trace.toggleAttribute('data-few', table.hasAttribute('data-few'));
      this.placePeak();
    });
    observer.observe(findings, { subtree: true, childList: true, attributeFilter: ['data-open'] });
    observer.observe(table, { attributeFilter: ['data-few'] });
    const folds = new MutationObserver(() => this.foldFindings());
    folds.observe(this.tabs.element, { attributeFilter: ['data-shown'] });
    folds.observe(this.trace, { attributeFilter: ['data-details'] });
    const { peak } = this.timeline;
    new ResizeObserver(() => this.placePeak()).observe(peak);
    new ResizeObserver(() => this.foldFindings()).observe(this.trace);
  }

  private get isPanel(): boolean {
    return getComputedStyle(this.trace).display !== 'grid';
  }

  /** In a panel, cards leave half of the height to details, and to each tab but the table. */
  private foldFindings(): void {
    const { shown } = this.tabs.element.dataset;
    const below = this.trace.hasAttribute('data-details') || (shown !== undefined && shown !== 'lines');
    const fold = below && this.isPanel;
    this.trace.toggleAttribute('data-folded', fold);
    this.findings.fold(fold);
  }

  /** What explains a peak stands below the tabs; in a panel, where an open card takes that room, above the card. */
  private placePeak(): void {
    const { peak } = this.timeline;
    const above = this.trace.hasAttribute('data-open-card') && this.isPanel;
    const { element: findings } = this.findings;
    const place = above ? findings : this.tabs.element;
    if (peak.parentElement !== place) place.insertBefore(peak, above ? place.firstChild : this.tabs.list.nextSibling);
    const shift = above && !peak.hidden ? `${peak.offsetHeight + 4}px` : '';
    if (findings.style.getPropertyValue('--gm-peak') === '' && shift !== '') findings.scrollTop = 0;
    findings.style.setProperty('--gm-peak', shift);
  }

  /** `withAnswers`: the answers that belong to it come with it, unless another question follows from it. */
  setSession(session: SessionView, withAnswers: boolean): void {
    const before = questionKey(this.now());
    const chosen = this.session.id !== 0 && session.id !== this.session.id;
    this.session = session;
    this.clock.update(session);
    this.keepTime();
    POLLERS.moving = session.phase === 'running';
    if (session.info) nameCells(session.info);
    const start = session.info?.startRealtimeMs;
    if (chosen || (start !== undefined && start !== this.view.trace)) this.forget(start);
    this.followMoment(session);
    onFrame(this.render, true);
    if (!withAnswers || questionKey(this.now()) !== before) this.invalidate();
  }

  /** One trace has one moment: of several pages, that of the one that chose last. */
  private followMoment(session: SessionView): void {
    const { shown, info } = session;
    if (shown === undefined) {
      this.bringEnding(session);
      // A page that was loaded anew has its moment from before.
      if (info !== null && (this.view.moment.kind !== 'now' || this.view.ending !== null)) this.passMoment();
    } else if (this.passing === 0 && JSON.stringify(shown.moment) !== JSON.stringify(this.view.moment)) {
      this.apply({ type: 'moment', ...shown });
    }
  }

  /** Until the host has it, what it says of the moment is older. */
  private passMoment(): void {
    const { moment, momentTitle: title, momentBytes: bytes } = this.view;
    this.passing++;
    const passed = this.request('setMoment', { id: this.session.id, moment, title, ...(bytes !== null && { bytes }) });
    void passed.finally(() => this.passing--);
  }

  /** Once for each trace, before its end is drawn, and not where the user looks at another moment. */
  private bringEnding({ ending }: SessionView): void {
    if (ending === null || this.view.ending === ending.timeNs) return;
    const { timeNs, title, bytes } = ending;
    this.dispatch({ type: 'ending', ending: timeNs });
    if (this.view.moment.kind === 'now') this.apply({ type: 'moment', moment: { kind: 'at', timeNs }, title, bytes });
  }

  /** Shows the trace beside that moment. */
  compare(a: ComparePoint): void {
    this.dispatch({ type: 'compare', compare: { a: pointText(a), b: null } });
    this.dispatch({ type: 'tab', tab: 'compare' });
  }

  /** Shows the card of this finding, for the host. */
  showFinding(id: string): void {
    this.findings.reveal(id);
  }

  /** Shows this moment and the card of a finding, for the host. */
  showMoment(moment: Moment, title: string, finding: string | null): void {
    this.timeline.show({ moment, title });
    if (finding !== null) this.showFinding(finding);
  }

  /** Shows this block and its stack, for the host. */
  async showBlock(title: string, block: BlockQuery): Promise<void> {
    const { site, address } = block;
    const window = await this.request('block', block);
    const subject = { key: `block/${address}`, title, tooltip: address, summary: '', site, liveCount: null };
    this.show({ ...subject, blocks: { layer: 'tensor', site } }, (window && blockAt(window, 0)) ?? undefined);
  }

  /** What is read first gets the focus: a finding, what can be done where there is nothing, or the table. */
  focusFirst(): void {
    const all = ['.finding-toggle', '.state [data-action]', '.list .grid'].flatMap(kind => [
      ...this.element.querySelectorAll<HTMLElement>(kind),
    ]);
    all.find(one => one.offsetParent !== null)?.focus();
  }

  /** Another trace: nothing of the old one stays on the page. */
  private forget(trace: number | undefined): void {
    for (const part of this.parts) part.forget();
    this.notices.clearErrors();
    if (trace !== undefined) this.dispatch({ type: 'trace', trace });
  }

  /** What was found is not what is shown. */
  judged(): void {
    this.findings.judged();
  }

  /** Events arrived, or the page came into view: what is shown is requested again. */
  invalidate(): void {
    for (const part of this.parts) part.invalidate();
  }

  visible(visible: boolean): void {
    if (!visible) return;
    POLLERS.wake();
    this.keepTime();
    onFrame(this.render);
  }

  now(): PageContext | null {
    const { session } = this;
    const { info } = session;
    if (!info) return null;
    const view = scoped(this.view, info);
    return { session, info, view, layer: view.layer ?? listedLayer(info.totals), runNs: this.clock.elapsedNs() };
  }

  dispatch(action: Action): void {
    this.apply(action);
    if (action.type === 'moment') this.passMoment();
  }

  private apply(action: Action): void {
    const before = this.view;
    this.view = reduce(before, action);
    if (this.view === before) return;
    this.save(this.view);
    onFrame(OF_TIMELINE.has(action.type) ? this.drawTimeline : this.render);
    for (const part of this.parts) part.changed(action);
  }

  select(row: Row | null, section?: DetailsSection): void {
    this.details.select(row, section);
  }

  hasRoomBeside(): boolean {
    return getComputedStyle(this.lower).flexDirection === 'row';
  }

  show(subject: Subject, block?: Block): void {
    this.details.show(subject, block ?? null);
  }

  async request<M extends Method>(method: M, params: Params<M>): Promise<Result<M> | undefined> {
    try {
      const value = await this.client.request(method, params);
      this.notices.setError(method, '');
      return value;
    } catch (error) {
      this.notices.setError(method, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /** Shows how long the run is, while it continues and is seen. */
  private keepTime(): void {
    if (this.clock.running && !document.hidden) this.ticking ??= setInterval(() => this.tick(), CLOCK_MS);
  }

  private tick(): void {
    if (document.hidden || !this.clock.running) {
      clearInterval(this.ticking);
      this.ticking = undefined;
      return;
    }
    this.header.tick(this.clock.elapsedNs());
    this.drawTimeline();
  }

  private readonly drawTimeline = (): void => {
    const context = this.now();
    if (context && !this.lines.awaits(context.view)) this.timeline.update(context);
  };

  /** All of its figures are of one moment. */
  private readonly drawHeader = (): void => {
    const { session, view } = this;
    if (this.lines.awaits(view)) return;
    const timeNs = untilOf(view.moment);
    const step = timeNs === null || session.info === null ? null : this.timeline.stepAt(timeNs, session.info);
    const moment = timeNs === null ? null : { timeNs, bytes: view.momentBytes, step };
    this.header.update(session, this.clock.elapsedNs(), moment);
  };

  /** Whether there is a trace is not known yet. */
  private awaitSession(): void {
    this.state.update({ ...NO_SESSION, phase: 'starting', detail: t('Reading…') });
    for (const element of [this.header.element, this.scopes.element, this.trace]) setHidden(element, true);
  }

  /** A moment is named once its rows are there. */
  private readonly render = (): void => {
    const { session } = this;
    const { info, phase } = session;
    if (session === NO_SESSION) return this.awaitSession();
    if (this.lines.awaits(this.view)) return;
    const context = this.now();
    setAttribute(this.element, 'data-phase', phase);
    setAttribute(this.element, 'data-layer', context?.layer ?? this.view.layer ?? listedLayer([]));
    setHidden(this.header.element, phase === 'empty');
    this.drawHeader();
    this.scopes.update(session, context?.view ?? this.view);
    this.state.update(session);
    this.notices.update(info, session.closed ?? '');
    const traced = phase !== 'empty' && !nothingIn(session);
    setHidden(this.trace, !traced);
    this.element.toggleAttribute('data-traced', traced);
    this.placeComparison(session.crashed === true);
    if (!context) return;
    for (const part of this.parts) part.update(context);
  };
}
