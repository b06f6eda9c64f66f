// Heading of the table with its totals, the filter box and the selectors.
import type { GroupBy, Layer, SiteWindow } from '../../extension/protocol/trace';
import { formatBytes, formatPlural } from '../../extension/protocol/format';
import { dropdown, textField } from '../components';
import { el, setText } from '../dom';
import { GROUP_NAMES, listTitle } from './columns';
import { GROUPS, type ViewState } from './state';

export interface ToolbarActions {
  filter(text: string): void;
  group(by: GroupBy): void;
  layer(layer: Layer): void;
}
const LAYER_NAMES: readonly (readonly [Layer, string])[] = [
  ['tensor', 'Tensors'],
  ['driver', 'Driver'],
  ['host', 'Pinned host'],
];
const FILTER_DELAY_MS = 150;

export class Toolbar {
  readonly element: HTMLElement;
  private readonly title = el('h2', {});
  private readonly sums = el('span', { class: 'dim number', 'data-value': 'sums' });
  private readonly group;
  private readonly layer;
  private timer = 0;

  constructor(filter: string, actions: ToolbarActions) {
    const names = GROUPS.map(by => [by, `By ${GROUP_NAMES[by].toLowerCase()}`] as const);
    this.group = dropdown('group', 'Group by', names, by => actions.group(by));
    this.layer = dropdown('layer', 'Layer', LAYER_NAMES, layer => actions.layer(layer));
    const label = 'Filter rows by text, or by size as in >10MB';
    const box = textField('filter', label, 'Filter, e.g. model >10MB', filter, text => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => actions.filter(text.trim()), FILTER_DELAY_MS);
    });
    const controls = el('div', { class: 'controls' }, box, this.group.element, this.layer.element);
    this.element = el('div', { class: 'toolbar' }, el('div', { class: 'list-head' }, this.title, this.sums), controls);
  }

  update(view: ViewState, layer: Layer): void {
    const title = listTitle(view.groupBy);
    setText(
      this.title,
      view.momentTitle === '' ? title : `${view.momentTitle}, by ${GROUP_NAMES[view.groupBy].toLowerCase()}`,
    );
    this.group.set(view.groupBy);
    this.layer.set(layer);
  }

  setSums(window: SiteWindow | null, groupBy: GroupBy): void {
    if (!window) return;
    const rows = formatPlural(
      window.total,
      groupBy === 'site' ? 'stack' : GROUP_NAMES[groupBy].toLowerCase(),
      plural(groupBy),
    );
    const blocks = formatPlural(window.sumLiveCount, 'block');
    setText(this.sums, `${rows} · ${blocks} · ${formatBytes(window.sumLiveBytes)}`);
  }
}

function plural(groupBy: GroupBy): string {
  if (groupBy === 'process') return 'processes';
  return groupBy === 'site' ? 'stacks' : `${GROUP_NAMES[groupBy].toLowerCase()}s`;
}
