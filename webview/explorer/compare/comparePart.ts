// Two moments beside each other, line by line: what came, what went, what grew.
import { t } from '@vscode/l10n';
import {
  pointText,
  type CompareBy,
  type ComparedTrace,
  type CompareQuery,
  type Comparison,
} from '../../../extension/protocol/requests/compareRequests';
import { dropdown, iconButton } from '../../components';
import { differs, el, setAttribute, setText } from '../../dom';
import { chosenPoints, comparedStep, optionOf, pointOptions } from './comparePoints';
import { sumsText } from './compareSums';
import { CompareView } from './compareView';
import { PolledPart, type PageActions, type PageContext } from '../state/part';
import type { ViewState } from '../state/state';

const INTERVAL_MS = 1_000;
const ROWS = 300;
const BEFORE = t('Before: the earlier moment');
const AFTER = t('After: the later moment');
const WAYS: readonly (readonly [CompareBy, string])[] = [
  ['line', t('By line')],
  ['stack', t('By stack')],
];

export class ComparePart extends PolledPart {
  readonly element: HTMLElement;
  private readonly a = dropdown<string>('compare-a', BEFORE, [], a => this.choosePoints({ a }));
  private readonly b = dropdown<string>('compare-b', AFTER, [], b => this.choosePoints({ b }));
  private readonly by = dropdown('compare-by', t('Group by'), WAYS, by => this.choose({ by }));
  private readonly sums = el('p', { class: 'compare-sums number', role: 'status', 'data-value': 'compare-sums' });
  private readonly view: CompareView;
  private traces: readonly ComparedTrace[] = [];

  constructor(page: PageActions) {
    super(page, INTERVAL_MS, ['compare', 'layer', 'process', 'device', 'moment'], true);
    const swap = iconButton('compare-swap', 'arrow-swap', t('Swap before and after'), () => this.swap());
    const otherWords = t('Compare with another trace');
    const other = iconButton('compare-other', 'folder-opened', otherWords, () => void this.other());
    const both = [label(t('Before')), this.a.element, label(t('After')), this.b.element];
    const points = el('div', { class: 'compare-points' }, ...both);
    const buttons = [this.by.element, swap.element, other.element];
    const controls = el('div', { class: 'compare-controls' }, ...buttons, this.sums);
    this.view = new CompareView(({ file, line }, focus) => page.openLine(file, line, focus));
    this.element = el('div', { class: 'compare' }, points, controls, this.view.element, this.view.foot);
  }

  override update({ view }: PageContext): void {
    if (this.traces.length > 0) this.offer(view);
  }

  forget(): void {
    this.traces = [];
    differs(this.element);
    this.view.clear();
    setText(this.sums, '');
  }

  private offer(view: ViewState): void {
    const { a, b } = this.points(view);
    for (const [control, words, point] of [
      [this.a, BEFORE, a],
      [this.b, AFTER, b],
    ] as const) {
      const options = pointOptions(this.traces, view.moment, document.documentElement.lang, point);
      const chosen = optionOf(this.traces, point);
      control.offer(options, chosen);
      const whole = options.find(([value]) => value === chosen)?.[1] ?? '';
      setAttribute(control.element, 'title', `${words}\n${whole}`); // its one line may be cut
    }
    this.by.set(view.compare.by);
  }

  private points({ compare }: ViewState): ReturnType<typeof chosenPoints> {
    return chosenPoints(this.traces, compare, this.page.now()?.session.before);
  }

  private choose(compare: Partial<ViewState['compare']>): void {
    this.page.dispatch({ type: 'compare', compare });
  }

  /** The other one stays what it is; as long as that is the usual end, it may become the last step of two runs. */
  private choosePoints(chosen: { a?: string; b?: string }): void {
    const view = this.page.now()?.view;
    if (!view) return;
    const { a, b } = this.points(view);
    this.choose({ a: pointText(a), b: b.timeNs === null ? view.compare.b : pointText(b), ...chosen });
  }

  private swap(): void {
    const view = this.page.now()?.view;
    if (!view) return;
    const { a, b } = this.points(view);
    this.choose({ a: pointText(b), b: pointText(a) });
  }

  private async other(): Promise<void> {
    const trace = await this.page.request('openOtherTrace', undefined);
    if (typeof trace === 'number') this.choose({ a: pointText({ trace, timeNs: null }), b: null });
  }

  protected async load(): Promise<void> {
    const traces = await this.page.request('compareTraces', undefined);
    const context = this.page.now();
    if (!traces || !context) return;
    this.traces = traces;
    this.offer(context.view);
    const query = this.query(context);
    const comparison = await this.page.request('compare', query);
    const after = this.page.now();
    if (!comparison || !after || JSON.stringify(this.query(after)) !== JSON.stringify(query)) return;
    this.show(comparison, comparedStep(traces, query.a, query.b));
  }

  private query({ view, layer }: PageContext): CompareQuery {
    const { process, device } = view;
    return { ...this.points(view), by: view.compare.by, layer, process, device, rows: ROWS };
  }

  private show(comparison: Comparison, step: number | null): void {
    if (!differs(this.element, comparison, step)) return;
    setText(this.sums, sumsText(comparison, step));
    this.view.show(comparison);
  }
}

const label = (text: string): HTMLElement => el('b', { 'aria-hidden': 'true' }, text);
