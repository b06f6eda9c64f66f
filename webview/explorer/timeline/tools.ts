// Above the chart: what its areas are, the unit of its axis, and the legend.
import { t } from '@vscode/l10n';
import type { Series } from '../../../extension/protocol/trace';
import { dropdown, iconButton } from '../../components';
import { button, el, setAttribute, setHidden, setText } from '../../dom';
import { setWrapped } from '../common/named';
import { chip } from './bar';
import type { DrawnSeries } from './chart';
import { REST, type GroupName } from './timelineStack';
import type { PageActions } from '../state/part';
import type { AxisUnit, StackChoice } from '../state/state';

type StackKey = `${StackChoice['by']}-${StackChoice['rank']}`;
const STACKS: readonly (readonly [StackKey, string])[] = [
  ['line-alive', t('Largest lines now')],
  ['line-peak', t('Largest lines at peak')],
  ['category-alive', t('By purpose')],
  ['thread-alive', t('By thread')],
  ['none-alive', t('Total only')],
];
export const SERIES_NAMES: Record<DrawnSeries, string> = {
  tensor: t('allocated'),
  reserved: t('reserved'),
  driver: t('driver'),
};

export class TimelineTools {
  readonly element: HTMLElement;
  private readonly stack;
  private readonly axis = chip('axis', t('Steps'), t('Label the axis in steps or in time'), () =>
    this.page.dispatch({ type: 'axis', axis: isPressed(this.axis) ? 'time' : 'steps' }),
  );
  /** Shows or hides the tools; it lies in the corner of the plot. */
  readonly toggle: HTMLElement;
  private shown: boolean | null | undefined;
  private readonly choices = el('div', { class: 'timeline-choices' });
  private readonly legend = el('div', { class: 'legend' });
  private readonly groups = el('ul', {
    class: 'legend-groups',
    'aria-label': t('Groups in the chart, from the bottom'),
  });
  private readonly series = new Map<DrawnSeries, HTMLElement>();

  constructor(
    private readonly page: Pick<PageActions, 'dispatch'>,
    drawn: readonly DrawnSeries[],
  ) {
    this.stack = dropdown('stack', t('Group the chart by'), STACKS, key => {
      const [by, rank] = key.split('-') as [StackChoice['by'], StackChoice['rank']];
      page.dispatch({ type: 'stack', stack: { by, rank } });
    });
    this.toggle = iconButton('timeline-tools', 'settings', t('Timeline options'), () =>
      page.dispatch({ type: 'tools', tools: !this.areShown }),
    ).element;
    this.toggle.addEventListener('focus', () => this.describe());
    this.choices.append(this.stack.element, this.axis);
    this.legend.append(this.groups, ...drawn.map(series => this.seriesButton(series)));
    this.element = el('div', { class: 'timeline-tools' }, this.choices, this.legend);
  }

  /** null: where there is room. */
  setShown(shown: boolean | null): void {
    if (shown === this.shown) return;
    this.shown = shown;
    setAttribute(this.element, 'data-shown', String(shown ?? 'auto'));
    this.describe();
  }

  private describe(): void {
    setAttribute(this.toggle, 'aria-expanded', String(this.areShown));
  }

  private get areShown(): boolean {
    return this.choices.offsetParent !== null;
  }

  /** @param steps null: it is not known what a step is */
  update(state: { stack: StackChoice; axis: AxisUnit; steps: boolean }): void {
    this.stack.set(`${state.stack.by}-${state.stack.rank}` as StackKey);
    setHidden(this.axis, !state.steps);
    setAttribute(this.axis, 'aria-pressed', String(state.axis === 'steps'));
  }

  /**
   * @param groups bottom first; the rest is named where there are any
   * @param slots their colours
   */
  setGroups(groups: readonly GroupName[], slots: readonly number[]): void {
    const entries = groups.length > 0 ? [...groups, REST] : [];
    entries.forEach((group, i) => {
      const entry = (this.groups.children[i] as HTMLElement | undefined) ?? this.addGroup();
      const [swatch, name, more] = entry.children;
      setAttribute(entry, 'title', group.title);
      setAttribute(swatch!, 'data-group', group === REST ? 'rest' : String(slots[i]));
      setWrapped(name!, group.name);
      setText(more!, group.more === '' ? '' : ` ${group.more}`);
    });
    while (this.groups.children.length > entries.length) this.groups.lastElementChild!.remove();
    setHidden(this.groups, entries.length === 0);
  }

  /** @param known series that hold anything; the others are not named */
  setSeries(known: readonly Series[], hidden: readonly Series[]): void {
    for (const [series, button] of this.series) {
      setHidden(button, !known.includes(series));
      setAttribute(button, 'aria-pressed', String(!hidden.includes(series)));
    }
  }

  private addGroup(): HTMLElement {
    const entry = el('li', { class: 'legend-item' }, el('i', {}), el('span', {}), el('span', { class: 'extra' }));
    this.groups.append(entry);
    return entry;
  }

  private seriesButton(series: DrawnSeries): HTMLElement {
    const name = SERIES_NAMES[series];
    const label = [el('i', { 'data-part': series, class: 'line' }), el('span', {}, name)];
    const more = { 'data-series': series, title: t('Show or hide: {0}', name) };
    const toggle = (): void => this.page.dispatch({ type: 'series', series });
    const element = button('legend-item', null, label, toggle, more);
    this.series.set(series, element);
    return element;
  }
}

function isPressed(button: HTMLElement): boolean {
  return button.getAttribute('aria-pressed') === 'true';
}
