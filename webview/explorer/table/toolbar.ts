// Heading of the table with its totals, the filter box and the selectors.
import { t } from '@vscode/l10n';
import type { GroupBy, Layer, SiteWindow } from '../../../extension/protocol/trace';
import type { TreeWeight } from '../../../extension/protocol/requests/treeRequests';
import { formatBytes } from '../../../extension/text/format';
import { dropdown, iconButton } from '../../components';
import { el, setHidden, setText } from '../../dom';
import { blocksText } from '../common/counts';
import { FilterBox } from './filterBox';
import { GROUP_CHOICES, groupsText, LIST_TITLES, MOMENT_TITLES, TREE_TITLES, treeOf, TREES, type Tree } from './groups';
import type { PageActions } from '../state/part';
import { GROUPS, type ViewState } from '../state/state';

interface ToolbarActions {
  group(by: GroupBy | Tree): void;
  /** The menu of columns is to open below this place. */
  columns(at: { x: number; y: number }): void;
}
const LAYER_NAMES: readonly (readonly [Layer, string])[] = [
  ['tensor', t('Tensors')],
  ['driver', t('Driver')],
  ['host', t('Pinned host')],
];
const WEIGHT_NAMES: readonly (readonly [TreeWeight, string])[] = [
  ['live', t('Live now')],
  ['peak', t('At peak')],
  ['churn', t('Total allocated')],
];
export class Toolbar {
  readonly element: HTMLElement;
  private readonly title = el('h2', {});
  private readonly sums = el('span', { class: 'dim number', 'data-value': 'sums' });
  private readonly filter: FilterBox;
  private readonly group;
  private readonly layer;
  private readonly weight;
  private readonly columns: HTMLElement;

  constructor(filter: string, page: Pick<PageActions, 'dispatch'>, actions: ToolbarActions) {
    const names: [GroupBy | Tree, string][] = GROUPS.map(by => [by, GROUP_CHOICES[by]]);
    for (const tree of TREES) names.push([tree, TREE_TITLES[tree]]);
    this.group = dropdown('group', t('Group by'), names, by => actions.group(by));
    this.layer = dropdown('layer', t('Layer'), LAYER_NAMES, layer => page.dispatch({ type: 'layer', layer }));
    this.weight = dropdown('weight', t('Bytes'), WEIGHT_NAMES, weight =>
      page.dispatch({ type: 'table', table: { weight } }),
    );
    this.filter = new FilterBox(filter, text => page.dispatch({ type: 'filter', filter: text }));
    this.columns = iconButton('columns', 'settings-gear', t('Columns'), () => {
      const { left, bottom } = this.columns.getBoundingClientRect();
      actions.columns({ x: left, y: bottom });
    }).element;
    this.columns.setAttribute('aria-haspopup', 'menu');
    const selectors = [this.group.element, this.weight.element, this.layer.element, this.columns];
    const controls = el('div', { class: 'controls' }, this.filter.element, ...selectors);
    const head = el('div', { class: 'list-head' }, this.title, this.sums);
    this.element = el('div', { class: 'toolbar' }, head, controls, this.filter.note);
  }

  update(view: ViewState, layer: Layer): void {
    const { tree, weight } = view.table;
    setText(this.title, titleOf(view));
    this.filter.update(view.filter);
    this.group.set(tree ? treeOf(view.table) : view.groupBy);
    this.layer.set(layer);
    this.weight.set(weight);
    setHidden(this.weight.element, !tree || weight === 'modules');
    setHidden(this.columns, tree);
  }

  /** What all rows hold. */
  setSums({ total, sumLiveCount, sumLiveBytes }: SiteWindow, groupBy: GroupBy): void {
    const sums = [groupsText(groupBy, total), blocksText(sumLiveCount), formatBytes(sumLiveBytes)];
    setText(this.sums, sums.join(' · '));
  }

  setTreeSum(bytes: number): void {
    setText(this.sums, formatBytes(bytes));
  }
}

/** `Live by line`; of a moment that was chosen, its own words. */
function titleOf({ table, groupBy, momentTitle }: ViewState): string {
  if (momentTitle !== '')
    return MOMENT_TITLES[!table.tree ? groupBy : treeOf(table) === 'modules' ? 'module-path' : 'site'](momentTitle);
  return table.tree ? TREE_TITLES[treeOf(table)] : LIST_TITLES[groupBy];
}
