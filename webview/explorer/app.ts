// Puts the parts of the page together: state in, requests out, answers to the parts.
import type { Method, Params, Result, SessionView } from '../../extension/protocol/messages';
import type { Layer, Site } from '../../extension/protocol/trace';
import { el, Frames, setAttribute } from '../dom';
import type { RequestClient } from './client';
import { RunClock } from './clock';
import { DetailsView } from './detailsView';
import { Header } from './header';
import { ledgerBars } from './ledger';
import { LedgerView } from './ledgerView';
import { Notices } from './notices';
import { Poller } from './poller';
import type { Row } from './rows';
import { effectiveLayer, reduce, type Action, type ViewState } from './state';
import { StateView } from './stateView';
import { TableView } from './tableView';
import { onThemeChange } from './theme';
import { ask, TimelineData } from './timelineData';
import { TimelineView } from './timelineView';
import { Toolbar } from './toolbar';
import { visibleWindow } from './zoom';

const EMPTY: SessionView = {
  phase: 'empty',
  title: '',
  detail: '',
  simulated: false,
  recording: true,
  exitCode: null,
  trusted: true,
  info: null,
};
const CLOCK_MS = 1000;

export class App {
  readonly element = el('div', { class: 'explorer' });
  private session: SessionView = EMPTY;
  private selected: Row | null = null;
  private reserved: ReadonlyMap<number, number> = new Map();
  private readonly clock = new RunClock();
  private readonly frames = new Frames();
  private readonly header: Header;
  private readonly state: StateView;
  private readonly notices: Notices;
  private readonly ledger = new LedgerView();
  private readonly timeline: TimelineView;
  private readonly toolbar: Toolbar;
  private readonly table: TableView;
  private readonly details: DetailsView;
  private readonly trace = el('div', { class: 'trace' });
  private readonly sitesPoller = new Poller(() => this.askSites());
  private readonly timelinePoller = new Poller(() => this.askTimeline());
  private readonly sitePoller = new Poller(() => this.askSite());

  constructor(
    private readonly client: RequestClient,
    private view: ViewState,
    private readonly save: (view: ViewState) => void,
  ) {
    this.header = new Header({
      stop: () => void this.command('stop', undefined),
      save: () => void this.command('save', undefined),
      setRecording: on => void this.command('setRecording', { on }),
    });
    this.state = new StateView(() => void this.command('start', undefined));
    const openLine = (file: string, line: number): void => void this.command('openLine', { file, line });
    this.notices = new Notices({ openLine, site: id => this.client.request('site', { id }) });
    this.timeline = new TimelineView(this.frames, {
      zoom: zoom => this.dispatch({ type: 'zoom', zoom }),
      toggle: series => this.dispatch({ type: 'series', series }),
      need: () => this.timelinePoller.invalidate(),
    });
    this.toolbar = new Toolbar(view.filter, {
      filter: filter => this.dispatch({ type: 'filter', filter }),
      group: groupBy => this.dispatch({ type: 'group', groupBy }),
      layer: layer => this.dispatch({ type: 'layer', layer }),
    });
    this.table = new TableView(this.frames, {
      sort: sort => this.dispatch({ type: 'sort', sort }),
      open: row => this.open(row),
      select: row => this.select(row),
      refresh: row => {
        this.selected = row;
        this.details.begin(row);
      },
      need: () => this.sitesPoller.invalidate(true),
    });
    // Two frames later the table has its new height.
    const appeared = (): void => void requestAnimationFrame(() => this.frames.add(() => this.table.revealActive()));
    this.details = new DetailsView({ openLine, close: () => this.table.clear(), appeared });
    this.assemble();
    this.listen();
    this.render();
  }

  setSession(session: SessionView): void {
    const before = this.session.info;
    const another = before !== null && session.info?.startRealtimeMs !== before.startRealtimeMs;
    this.session = session;
    this.clock.update(session);
    if (another) this.forget();
    this.frames.add(this.render);
    this.invalidate();
  }

  /** Another trace: nothing of the old one stays on the page. */
  private forget(): void {
    this.table.forget();
    this.timeline.forget();
    this.reserved = new Map();
    this.notices.clearErrors();
  }

  /** Events arrived, or the page came into view: what is shown is asked again. */
  invalidate(): void {
    for (const poller of this.pollers) poller.invalidate();
  }

  visible(visible: boolean): void {
    if (!visible) return;
    for (const poller of this.pollers) poller.wake();
    this.frames.add(this.render);
  }

  private get pollers(): Poller[] {
    return [this.sitesPoller, this.timelinePoller, this.sitePoller];
  }

  private get layer(): Layer {
    return effectiveLayer(this.view.layer, this.session.info?.totals ?? []);
  }

  private assemble(): void {
    const main = el('div', { class: 'list' }, this.toolbar.element, this.table.element);
    this.trace.append(
      this.ledger.element,
      this.timeline.element,
      el('div', { class: 'lower' }, main, this.details.element),
    );
    this.element.append(this.header.element, this.notices.element, this.state.element, this.trace);
  }

  private listen(): void {
    onThemeChange(() => this.timeline.recolour());
    setInterval(() => {
      if (document.hidden || !this.clock.running) return;
      this.header.tick(this.clock.elapsedNs());
      this.timeline.update(this.view.zoom, this.view.hidden, this.clock.elapsedNs());
    }, CLOCK_MS);
  }

  private readonly render = (): void => {
    const { session, view } = this;
    const { info, phase } = session;
    setAttribute(this.element, 'data-phase', phase);
    setAttribute(this.element, 'data-layer', this.layer);
    this.header.element.hidden = phase === 'empty';
    this.header.update(session, this.clock.elapsedNs());
    this.state.update(session);
    this.notices.update(info);
    const nothingYet = (phase === 'starting' || phase === 'failed') && info?.totals.length === 0;
    this.trace.hidden = info === null || phase === 'empty' || nothingYet;
    if (!info) return;
    this.renderLedger();
    this.timeline.update(view.zoom, view.hidden, this.clock.elapsedNs());
    this.toolbar.update(view, this.layer);
    this.table.update(view, info.processes, info.devices.length);
  };

  private readonly renderLedger = (): void => {
    const { info } = this.session;
    if (info) this.ledger.update(ledgerBars(info, this.reserved));
  };

  private dispatch(action: Action): void {
    const before = this.view;
    this.view = reduce(before, action);
    if (this.view === before) return;
    this.save(this.view);
    this.frames.add(this.render);
    if (action.type === 'series') return;
    if (action.type === 'zoom') return this.timelinePoller.invalidate();
    this.table.reset(action.type === 'sort');
    this.sitesPoller.invalidate(true);
  }

  private async askSites(): Promise<void> {
    if (!this.session.info) return;
    const { groupBy, sort, descending, filter } = this.view;
    const question = { layer: this.layer, groupBy, sort, descending, filter };
    const { from, to } = this.table.wanted();
    const window = await this.answer('sites', { ...question, from, to });
    const now = { layer: this.layer, groupBy: this.view.groupBy, sort: this.view.sort };
    const same = now.layer === question.layer && now.groupBy === groupBy && now.sort === sort;
    if (!window || !same || this.view.descending !== descending || this.view.filter !== filter) return;
    this.table.setWindow(window, from);
    this.toolbar.setSums(window, groupBy);
    this.table.setEmptyText(
      window.total > 0 ? '' : filter ? 'No row matches the filter.' : 'Nothing is alive in this layer.',
    );
  }

  private async askTimeline(): Promise<void> {
    const { info } = this.session;
    if (!info) return;
    const runNs = this.clock.elapsedNs();
    const question = ask(visibleWindow(this.view.zoom, runNs), this.timeline.pixels, info, runNs);
    const answers = await this.answer('timeline', { series: question.series });
    if (!answers) return;
    const data = new TimelineData(question, answers);
    this.reserved = data.reserved();
    this.timeline.setData(data);
    this.frames.add(this.renderLedger);
  }

  private async askSite(): Promise<void> {
    const row = this.selected;
    if (!row) return;
    const site: Site | null | undefined = await this.answer('site', { id: row.id });
    if (site !== undefined && this.selected?.key === row.key) this.details.show(site);
  }

  private select(row: Row | null): void {
    this.selected = row;
    if (!row) return this.details.hide();
    this.details.begin(row);
    this.sitePoller.invalidate(true);
  }

  private open(row: Row): void {
    if (row.line === 0) return;
    this.table.setOpened(row);
    void this.command('openLine', { file: row.file, line: row.line });
  }

  private async command<M extends Method>(method: M, params: Params<M>): Promise<void> {
    await this.answer(method, params);
  }

  /** The answer, or undefined after its failure was shown. */
  private async answer<M extends Method>(method: M, params: Params<M>): Promise<Result<M> | undefined> {
    try {
      const value = await this.client.request(method, params);
      this.notices.setError(method, '');
      return value;
    } catch (error) {
      this.notices.setError(method, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }
}
