// The table of what is alive, as a list or a tree of stacks, with its heading, filter and selectors.
import { t } from '@vscode/l10n';
import type { SiteWindow } from '../../../extension/protocol/trace';
import type { Moment } from '../../../extension/protocol/requests/moment';
import type { TreeWeight } from '../../../extension/protocol/requests/treeRequests';
import { MAX_VERDICTS, type VerdictGrouping } from '../../../extension/protocol/requests/verdictRequests';
import { baseName } from '../../../extension/text/format';
import { el, setTextOrHide } from '../../dom';
import { openMenu } from '../../menu';
import { GROUP_NAMES, TREE_NAMES, treeOf, TREES, type Tree } from './groups';
import { PolledPart, type PageActions, type PageContext } from '../state/part';
import { FIGURES_MS, Poller, whileShown } from '../state/poller';
import { columnMenu, rowMenu } from './rowMenu';
import { LONGEST_STEP } from '../common/columns';
import type { RowFocus } from '../common/rowKeys';
import type { Row } from '../common/rows';
import { textPx } from '../common/textPx';
import type { RowSource } from './rowSource';
import { SelectionBar, sumOf } from './selectionBar';
import { SiteRows } from './siteRows';
import type { Action, ViewState } from '../state/state';
import { TableView } from './tableView';
import { withColumn } from '../state/tableState';
import { Toolbar } from './toolbar';
import { TreeRows, treeSort } from './treeRows';
import { tsvOf } from './tsv';

/** What decides which rows there are, and their order. */
const questionOf = ({ view, layer }: PageContext) => {
  const { groupBy, sort, descending, filter, process, device, moment } = view;
  return { layer, groupBy, sort, descending, filter, process, device, moment };
};
/** The order apart: rows of this moment in the old one are better than others' figures beside rows of an older moment. */
const rowsOf = (context: PageContext): string =>
  JSON.stringify({ ...questionOf(context), sort: undefined, descending: undefined });
const sameRows = (a: PageContext, b: PageContext | null): boolean =>
  b !== null && a.view.table === b.view.table && rowsOf(a) === rowsOf(b);

/** Actions of the user that make another question. */
const RELOAD_ON: ReadonlySet<Action['type']> = new Set([
  'sort',
  'filter',
  'group',
  'layer',
  'table',
  'process',
  'device',
  'moment',
  'trace',
]);
/** Smaller parts of the whole are left out of the tree. */
const LEAST_SHARE = 1e-4;
const SLOW_MS = 1000;
const JUDGED: readonly VerdictGrouping[] = ['site', 'line', 'function'];
const WEIGHT_TITLES: Record<TreeWeight, readonly [string, string]> = {
  live: [t('Live'), t('Live bytes allocated by the frame and everything it calls')],
  peak: [t('Peak'), t('Sum of the peaks of all stacks through the frame; they may be at different times')],
  churn: [t('Total allocated'), t('All bytes ever allocated by the frame and everything it calls')],
  modules: [t('Live'), t('Live bytes allocated by the module and its submodules')],
};

export class LinesPart extends PolledPart {
  readonly element: HTMLElement;
  private readonly toolbar: Toolbar;
  readonly table: TableView;
  private readonly sites: SiteRows;
  private readonly tree = new TreeRows();
  private readonly bar: SelectionBar;
  private readonly shown = whileShown(() => this.element);
  private readonly verdictPoller = new Poller(() => this.loadVerdicts(), SLOW_MS, this.shown);
  private readonly sumPoller = new Poller(() => this.loadSum(), SLOW_MS, this.shown);

  /** The moment of the rows; null: there are none yet. */
  private moment: Moment | null = null;

  /** @param arrived the rows of another moment are there */
  constructor(
    page: PageActions,
    view: ViewState,
    private readonly arrived: () => void,
  ) {
    super(page, FIGURES_MS, [], true);
    this.sites = new SiteRows((from, to) => this.loadSites(from, to));
    this.toolbar = new Toolbar(view.filter, page, {
      group: by => this.group(by),
      columns: at => this.columnsMenu(at),
    });
    this.table = this.makeTable();
    this.bar = new SelectionBar({ copy: () => void this.copy(), clear: () => this.table.clear() });
    this.element = el('div', { class: 'list' }, this.toolbar.element, this.table.element, this.bar.element);
  }

  /** The rows of what is chosen are on the way: what stands beside them shows it with them. */
  awaits({ moment }: Pick<ViewState, 'moment'>): boolean {
    return this.moment !== null && this.moment !== moment && !this.element.hidden;
  }

  override update(context: PageContext): void {
    const { view, layer, info } = context;
    this.toolbar.update(view, layer);
    this.sites.setNames(view.groupBy, info.processes, layer);
    this.tree.setOrder(view);
    const { threads, grew } = this.sites;
    const stepPx = JUDGED.some(one => one === view.groupBy) ? Math.ceil(textPx(LONGEST_STEP)) : 0;
    const oneFile = view.table.tree ? '' : this.sites.oneFile;
    const several = { devices: info.devices.length, threads: threads.size, stepPx, grew, oneFile };
    this.table.update(view, this.sourceOf(view), several);
    const named = view.table.tree ? TREE_NAMES[treeOf(view.table)] : GROUP_NAMES[view.groupBy];
    this.table.head.setTitle('site', baseName(oneFile) || named, oneFile || t('Call site'));
    const [title, hint] = WEIGHT_TITLES[view.table.tree ? view.table.weight : 'live'];
    this.table.head.setTitle('live', title, view.table.tree ? hint : t('Live bytes'));
  }

  override invalidate(): void {
    super.invalidate();
    this.verdictPoller.invalidate();
    if (this.table.selection.size > 1) this.sumPoller.invalidate();
  }

  override changed(action: Action): void {
    const onlyColumns = action.type === 'table' && action.table.columns !== undefined;
    if (!RELOAD_ON.has(action.type) || onlyColumns) return;
    if (action.type !== 'sort') this.sites.reset(action.type !== 'moment');
    this.table.reset(action.type === 'sort');
    this.poller.invalidate(true);
  }

  forget(): void {
    this.table.reset(false);
    this.table.setOpened(null);
    this.sites.forget();
    this.tree.forget();
    this.moment = null;
  }

  private makeTable(): TableView {
    const { page } = this;
    return new TableView(this.sites, {
      sort: sort => page.dispatch({ type: 'sort', sort }),
      open: (row, focus) => this.open(row, focus),
      details: row => page.select(row, 'stack'),
      select: row => page.select(row),
      selected: () => this.selected(),
      need: () => this.poller.invalidate(true),
      menu: (row, at) => (row ? this.rowMenu(row, at) : this.columnsMenu(at)),
      copy: () => void this.copy(),
      expand: (row, open) => this.expand(row, open),
      parentOf: index => this.tree.parentOf(index),
    });
  }

  private sourceOf({ table }: ViewState): RowSource {
    return table.tree ? this.tree : this.sites;
  }

  private group(by: ViewState['groupBy'] | Tree): void {
    const tree = TREES.find(one => one === by);
    const table = this.page.now()?.view.table;
    if (!table) return;
    if (tree && tree !== treeOf(table)) {
      this.tree.forget();
      this.page.dispatch({ type: 'table', table: { tree: true, weight: tree === 'modules' ? tree : 'live' } });
    } else if (table.tree !== (tree !== undefined)) this.page.dispatch({ type: 'table', table: { tree: !table.tree } });
    if (!tree) this.page.dispatch({ type: 'group', groupBy: by as ViewState['groupBy'] });
  }

  private open(row: Row, focus?: RowFocus): void {
    if (row.line === 0) return;
    this.table.setOpened(row);
    this.page.openLine(row.file, row.line, focus);
  }

  private expand(row: Row, open: boolean): void {
    this.tree.expand(row.key, open);
    this.table.refresh();
    if (open) this.poller.invalidate(true);
  }

  private rowMenu(row: Row, at: { x: number; y: number }): void {
    const entries = rowMenu(row, this.table.selection.size, {
      open: one => this.open(one),
      details: (one, section) => this.page.select(one, section),
      copy: () => void this.copy(),
      filter: filter => this.page.dispatch({ type: 'filter', filter }),
    });
    openMenu(row.primary, entries, at);
  }

  private columnsMenu(at: { x: number; y: number }): void {
    const chosen = (): ViewState['table']['columns'] => this.page.now()?.view.table.columns ?? [];
    const entries = columnMenu(
      chosen,
      id => this.table.absence(id),
      id => this.page.dispatch({ type: 'table', table: { columns: withColumn(chosen(), id) } }),
    );
    openMenu(t('Columns'), entries, at);
  }

  /** Other rows are selected: what they hold together is requested where it is not known. */
  private selected(): void {
    if (this.table.selection.size > 1) this.sumPoller.invalidate(true);
    else this.bar.show(null);
  }

  private async loadSum(): Promise<void> {
    const { selection } = this.table;
    if (selection.size < 2) return;
    const rows = await this.selectedRows(true);
    if (selection.size > 1) this.bar.show(sumOf(rows, selection.size));
  }

  /** In the order of the table. `once`: of rows of a tree only those that lie in no other. */
  private async selectedRows(once: boolean): Promise<Row[]> {
    const { keys } = this.table.selection;
    const view = this.page.now()?.view;
    if (view?.table.tree && once) return this.tree.outermost(keys);
    const source = view ? this.sourceOf(view) : this.sites;
    return (await source.rows(0, source.total)).filter(row => keys.has(row.key));
  }

  private async copy(): Promise<void> {
    const { columns, selection } = this.table;
    const view = this.page.now()?.view;
    if (!view || selection.size === 0) return;
    const name = view.table.tree ? TREE_NAMES[treeOf(view.table)] : GROUP_NAMES[view.groupBy];
    const text = tsvOf(await this.selectedRows(false), columns, name);
    await this.page.request('copyText', { text });
  }

  private async loadSites(from: number, to: number): Promise<SiteWindow | undefined> {
    const context = this.page.now();
    if (!context) return undefined;
    const window = await this.page.request('sites', { ...questionOf(context), from, to });
    return sameRows(context, this.page.now()) ? window : undefined;
  }

  protected async load(): Promise<void> {
    const context = this.page.now();
    if (!context) return;
    await (context.view.table.tree ? this.loadTree(context) : this.loadList(context));
    const { moment } = context.view;
    if (this.moment === moment || !sameRows(context, this.page.now())) return;
    this.moment = moment;
    this.arrived();
  }

  private async loadList(context: PageContext): Promise<void> {
    const { view } = context;
    const { from, to } = this.table.neededRange();
    const window = await this.loadSites(from, to);
    if (!window) return;
    this.sites.set(window, from);
    this.update(this.page.now() ?? context); // a column may have come, or the rows of another moment
    this.table.refresh();
    if (this.sites.unjudged()) this.verdictPoller.invalidate();
    this.toolbar.setSums(window, view.groupBy);
    this.showEmpty(window.total, view);
  }

  /** Verdicts on the rows that are here; of threads, processes and devices there are none. */
  private async loadVerdicts(): Promise<void> {
    const context = this.page.now();
    const groupBy = JUDGED.find(one => one === context?.view.groupBy);
    if (!context || !groupBy || context.view.table.tree) return;
    const rows = this.sites.ids();
    const verdicts = await this.page.request('verdicts', { sites: [...rows.keys()].slice(0, MAX_VERDICTS), groupBy });
    if (!verdicts) return;
    if (!sameRows(context, this.page.now())) return this.verdictPoller.invalidate();
    this.sites.judge(rows, new Map(verdicts.map(verdict => [verdict.site, verdict])));
    const now = this.page.now();
    if (now && !this.awaits(now.view)) this.update(now); // the column of growth may have come
    this.table.refresh();
  }

  private async loadTree(context: PageContext): Promise<void> {
    const { view, layer } = context;
    const { weight } = view.table;
    const { filter, process, device, moment } = view;
    const query = { layer, weight, minShare: LEAST_SHARE, open: this.tree.open, filter, process, device, moment };
    const tree = await this.page.request('stackTree', query);
    if (!tree || !sameRows(context, this.page.now())) return;
    this.tree.set(tree, { sort: treeSort(view.sort), descending: view.descending });
    this.table.refresh();
    this.toolbar.setTreeSum(tree.totalBytes);
    this.showEmpty(tree.nodes, view);
  }

  private showEmpty(rows: number, { filter, moment }: ViewState): void {
    const none = filter
      ? t('No row matches the filter. Change or clear it.')
      : moment.kind === 'born'
        ? t('Nothing allocated in the selected span is still live.')
        : t('No live memory in this layer. Choose another layer or moment.');
    setTextOrHide(this.table.empty, rows > 0 ? '' : none);
  }
}
