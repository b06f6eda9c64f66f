// Parts of which one is seen: a list of tabs by the ARIA pattern (arrow keys, Home, End), the panel below.
import { t } from '@vscode/l10n';
import type { Moment } from '../../../extension/protocol/requests/moment';
import { button, el, setAttribute, setAttributes, setHidden, setTextOrHide } from '../../dom';
import type { PageContext, Part } from '../state/part';
import type { Action, TabId } from '../state/state';

export interface Tab {
  id: TabId;
  title: string;
  /** In a narrow panel. */
  short?: string;
  part: Part;
  /** Kinds of moments that it follows but does not name: the line above it does. */
  follows?: readonly Moment['kind'][];
  /** Whether the trace has anything for it; absent: each has. */
  has?: (context: PageContext) => boolean;
}

export class Tabs implements Part {
  readonly element = el('div', { class: 'tabs' });
  readonly list = el('div', { class: 'tab-list', role: 'tablist', 'aria-label': t('Memory views') });
  private readonly moment = el('p', { class: 'tab-moment', 'data-value': 'tab-moment' });
  private readonly buttons = new Map<TabId, HTMLElement>();
  private readonly titles = new WeakMap<Tab, string>();
  private offered: readonly Tab[];
  private shown: Tab;

  constructor(
    private readonly tabs: readonly [Tab, ...Tab[]],
    first: TabId,
    private readonly choose: (tab: TabId) => void,
  ) {
    this.offered = tabs;
    this.shown = tabs.find(tab => tab.id === first) ?? tabs[0];
    for (const tab of tabs) {
      this.list.append(this.button(tab));
      const { element } = tab.part;
      setHidden(element, tab !== this.shown);
      setAttributes(element, { role: 'tabpanel', id: `panel-${tab.id}`, 'aria-labelledby': `tab-${tab.id}` });
    }
    this.list.addEventListener('keydown', event => this.onKey(event));
    this.element.append(this.list, this.moment, ...tabs.map(tab => tab.part.element));
  }

  update(context: PageContext): void {
    this.offered = this.tabs.filter(({ has }) => has?.(context) ?? true);
    const chosen = this.offered.find(tab => tab.id === context.view.tab) ?? this.tabs[0];
    const another = chosen !== this.shown;
    setAttribute(this.element, 'data-shown', chosen.id);
    this.shown = chosen;
    for (const tab of this.tabs) {
      setHidden(tab.part.element, tab !== chosen);
      const button = this.buttons.get(tab.id);
      if (!button) continue;
      setHidden(button, !this.offered.includes(tab));
      setAttributes(button, { 'aria-selected': String(tab === chosen), tabindex: tab === chosen ? 0 : -1 });
    }
    const { moment, momentTitle } = context.view;
    const { drawn = moment } = chosen.part;
    // The title changes with what it is the title of.
    if (drawn === moment) this.titles.set(chosen, chosen.follows?.includes(moment.kind) ? momentTitle : '');
    setTextOrHide(this.moment, this.titles.get(chosen) ?? '');
    chosen.part.update(context);
    if (another) chosen.part.invalidate();
  }

  invalidate(): void {
    this.shown.part.invalidate();
  }

  changed(action: Action): void {
    for (const tab of this.tabs) tab.part.changed(action);
  }

  forget(): void {
    for (const tab of this.tabs) tab.part.forget();
  }

  private button({ id, title, short = title }: Tab): HTMLElement {
    const more = { role: 'tab', id: `tab-${id}`, 'data-tab': id, 'aria-controls': `panel-${id}`, 'aria-label': title };
    const words = [el('span', { class: 'tab-title' }, title), el('span', { class: 'tab-short' }, short)];
    const element = button('tab', null, words, () => this.choose(id), more);
    this.buttons.set(id, element);
    return element;
  }

  private onKey(event: KeyboardEvent): void {
    const at = this.offered.indexOf(this.shown);
    const last = this.offered.length - 1;
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    const tab = to === undefined ? undefined : this.offered[to];
    if (!tab) return;
    event.preventDefault();
    this.choose(tab.id);
    this.buttons.get(tab.id)?.focus();
  }
}
