// The timeline: areas and lines, what lies over them, and what is below and above them.
import { t } from '@vscode/l10n';
import { formatBytes, formatDuration } from '../../../extension/protocol/format';
import type {
  MomentReading,
  PeakQuery,
  Scope,
  StackedTimeline,
  StepTimes,
  TimelineSteps,
} from '../../../extension/protocol/requests/timelineRequests';
import type { Picture } from '../../../extension/protocol/requests/pictureRequests';
import type { Moment } from '../../../extension/protocol/requests/moment';
import type { Series } from '../../../extension/protocol/trace';
import { el, onFrame, setAttribute } from '../../dom';
import { TimelineChart, type Curve, type DrawnSeries } from './chart';
import type { PageContext } from '../shell/part';
import { pictureFacts } from '../common/picture';
import { onThemeChange } from '../common/theme';
import type { AxisUnit, StackChoice } from '../shell/state';
import { stepTicks } from './axis';
import { TimelineBar, type SpanChoice } from './bar';
import { DRAWN, type TimelineData } from './data';
import { TimelineInput } from './input';
import { gapsOf, marksOf, placeMarks, type TimelineMark } from './marks';
import { TimelineOverlay } from './overlay';
import { timelinePicture } from './picture';
import { aliveAtEnd, bornIn, spanText, timeText, toSteps, type Span, type TitledMoment } from './span';
import { GroupSlots } from './groupSlots';
import { groupName, stackEdges, type GroupName } from './stack';
import { SERIES_NAMES, TimelineTools } from './tools';
import { TimelineTooltip } from './tooltip';
import { FOLLOW, visibleWindow, type Zoom } from './zoom';

export interface TimelineActions {
  zoom(zoom: Zoom): void;
  toggle(series: Series): void;
  stack(choice: StackChoice): void;
  axis(unit: AxisUnit): void;
  /** The data was asked for another width. */
  need(): void;
  show(moment: TitledMoment): void;
  /** `where` follows "Alive at the peak". */
  showPeak(query: Omit<PeakQuery, keyof Scope>, where: string): void;
  /** Another span is selected: what is kept of it is to be asked. */
  spanned(): void;
  cancel(): void;
  now(): void;
  save(picture: Picture): void;
}

const MARK_GAP_PX = 6;
const HINT = t(
  'Arrow keys move, plus and minus zoom, Home follows the run. Shift with left and right selects a span, with up and down moves it; Enter shows what it holds, Escape clears it. On a mark, left and right lead to the next one.',
);

export class TimelineView {
  readonly element: HTMLElement;
  private readonly canvas = el('canvas', { 'aria-hidden': 'true' });
  private readonly surface = el('div', { class: 'timeline-surface', tabindex: 0, role: 'application' }, this.canvas);
  private readonly chart: TimelineChart;
  private readonly tools: TimelineTools;
  private readonly overlay: TimelineOverlay;
  private readonly tooltip = new TimelineTooltip();
  private readonly bar: TimelineBar;
  private readonly input: TimelineInput;
  private context: PageContext | null = null;
  private data: TimelineData | null = null;
  private stack: StackedTimeline | null = null;
  private readonly groupSlots = new GroupSlots();
  private slots: readonly number[] = [];
  private steps: TimelineSteps | null = null;
  private zoom: Zoom = FOLLOW;
  private span: Span | null = null;
  /** Bytes that were allocated in the span and are still alive; null: not asked yet. */
  private kept: number | null = null;
  private selecting = false;
  private reading: MomentReading | null = null;
  private pointerX: number | null = null;

  constructor(private readonly actions: TimelineActions) {
    this.tools = new TimelineTools(DRAWN, {
      ...actions,
      select: on => this.setSelecting(on),
      follow: () => actions.zoom(FOLLOW),
      savePicture: () => this.savePicture(),
    });
    this.overlay = new TimelineOverlay(mark => this.openMark(mark));
    this.bar = new TimelineBar({ ...actions, choose: choice => this.choose(choice), clear: () => this.setSpan(null) });
    this.surface.append(this.overlay.element, ...this.tooltip.elements);
    this.element = el('section', { class: 'timeline', 'aria-label': t('Timeline') });
    this.element.append(this.tools.element, this.surface, this.bar.element);
    this.chart = new TimelineChart(this.canvas, () => onFrame(this.draw));
    onThemeChange(() => {
      this.chart.recolour();
      onFrame(this.draw);
    });
    this.input = new TimelineInput(this.surface, () => this.inputState(), {
      zoom: zoom => this.move(zoom),
      span: (span, done) => this.drawn(span, done),
      pointer: x => this.movePointer(x),
      apply: () => this.choose('born'),
    });
  }

  /** Width of the plot in pixels, for the number of buckets to ask. */
  get pixels(): number {
    return this.chart.width;
  }

  /** Series that hold anything in the window. */
  private get known(): DrawnSeries[] {
    return DRAWN.filter(series => this.data?.has(series));
  }

  /** What the areas are made of: tensors, or the driver's memory where there are none. */
  get areaSeries(): 'tensor' | 'driver' {
    return this.data === null || this.data.has('tensor') || !this.data.has('driver') ? 'tensor' : 'driver';
  }

  setData(data: TimelineData): void {
    this.data = data;
    onFrame(this.draw);
  }

  setStack(stack: StackedTimeline | null): void {
    this.stack = stack;
    onFrame(this.draw);
  }

  setSteps(steps: TimelineSteps): void {
    this.steps = steps;
    onFrame(this.draw);
  }

  /** What is selected, as a moment; null without a selection. */
  get selected(): Moment | null {
    return this.span && bornIn(this.span, this.shownSteps).moment;
  }

  setKept(bytes: number): void {
    this.kept = bytes;
    onFrame(this.draw);
  }

  setReading(reading: MomentReading | null): void {
    if (reading && !this.reading) this.bar.announce(t('Reading up to {0}', timeText(reading.untilNs, this.shownSteps)));
    this.reading = reading;
    onFrame(this.draw);
  }

  forget(): void {
    this.data = this.stack = this.steps = this.span = this.reading = null;
  }

  update(context: PageContext): void {
    if (context.view.momentTitle !== this.context?.view.momentTitle)
      this.bar.announce(context.view.momentTitle === '' ? '' : t('Shown: {0}', context.view.momentTitle));
    this.context = context;
    this.zoom = context.view.zoom;
    onFrame(this.draw);
  }

  private readonly draw = (): void => {
    const { context } = this;
    if (!context) return;
    const { view, runNs } = context;
    const window = visibleWindow(this.zoom, runNs);
    const axis = this.shownSteps;
    const pixelNs = (window.toNs - window.fromNs) / this.chart.width;
    const ticks = axis ? stepTicks(axis, window, this.chart.labels, pixelNs * MARK_GAP_PX) : null;
    const groups = this.groupNames();
    const slots = (this.slots = this.groupSlots.assign(groups.map(({ title }) => title)));
    this.chart.draw({ curves: this.curves(window.toNs), groups: this.edges(), slots, window, ticks });
    if (this.data && !this.data.question.fits(this.chart.width)) this.actions.need();
    const { stack, axis: unit } = view;
    const steps = (this.steps?.axis ?? null) !== null;
    this.tools.update({ stack, axis: unit, steps, selecting: this.selecting, following: this.zoom.spanNs === null });
    this.tools.setSeries(this.known, view.hidden);
    this.tools.setGroups(groups, slots);
    this.drawOverlay();
    this.drawBar();
    setAttribute(this.surface, 'aria-label', this.description());
    this.drawCursor();
  };

  private curves(untilNs: number): Curve[] {
    const hidden = this.context?.view.hidden ?? [];
    return DRAWN.map(series => ({
      series,
      points: this.data?.points(series, untilNs) ?? [],
      shown: !hidden.includes(series),
      area: series === this.areaSeries,
    }));
  }

  private edges(): ReturnType<typeof stackEdges> {
    const { stack, data, context } = this;
    if (!stack || !data || !context) return [];
    const ceiling = (at: number): number => data.leastFrom(this.areaSeries, stack.toNs[at - 1] ?? stack.fromNs);
    return stackEdges(stack, visibleWindow(this.zoom, context.runNs), this.chart.width, ceiling);
  }

  private groupNames(): GroupName[] {
    const { stack, context } = this;
    const by = context?.view.stack.by ?? 'none';
    if (!stack || !context || by === 'none') return [];
    return stack.groups.map(group => groupName(group, by, context.info.processes));
  }

  /** What lies over the chart, beside the selected span. */
  private overlaid({ info, runNs, session }: PageContext) {
    const window = visibleWindow(this.zoom, runNs);
    const peak = this.data?.peak(this.areaSeries) ?? null;
    const marks = marksOf(info, this.steps, session.marks, peak && { timeNs: peak.fromNs, bytes: peak.bytes });
    return {
      window,
      gaps: gapsOf(info, this.steps, runNs),
      marks: placeMarks(marks, window, this.chart.width),
    };
  }

  private savePicture(): void {
    const { context, span, canvas } = this;
    if (!context) return;
    const over = this.overlaid(context);
    const { fromNs, toNs } = over.window;
    const series = this.known.filter(one => !context.view.hidden.includes(one));
    const groups = series.includes(this.areaSeries) ? this.groupNames() : [];
    const facts = [pictureFacts(context), t('From {0} to {1}', formatDuration(fromNs), formatDuration(toNs))];
    const picture = timelinePicture({
      canvas,
      plot: this.chart.plot,
      ...over,
      span,
      groups,
      slots: this.slots,
      series,
      facts,
    });
    if (picture) this.actions.save(picture);
  }

  private drawOverlay(): void {
    const { context } = this;
    if (!context) return;
    const pixels = this.chart.width;
    const { window, gaps, marks } = this.overlaid(context);
    this.overlay.place(this.chart.plot);
    this.overlay.drawGaps(gaps, window, pixels);
    this.overlay.drawMarks(marks);
    this.overlay.drawSpan(this.span, window, pixels);
  }

  private drawBar(): void {
    const { span, reading, context } = this;
    const steps = this.shownSteps;
    const part = reading ? Math.floor((reading.readNs / Math.max(reading.untilNs, 1)) * 100) : 0;
    this.bar.update({
      span: span ? spanText(span, steps) : null,
      kept: this.kept === null ? '' : t('{0} kept', formatBytes(this.kept)),
      reading: reading ? t('Reading up to {0}… {1} %', timeText(reading.untilNs, steps), part) : null,
      moment: context?.view.momentTitle || null,
    });
  }

  private readonly drawCursor = (): void => {
    const { data, context, pointerX: x } = this;
    const { left, right } = this.chart.plot;
    const inside = data !== null && x !== null && x >= left && x <= right && !this.input.busy;
    if (!inside || !context) return this.tooltip.hide();
    const { fromNs, toNs } = visibleWindow(this.zoom, context.runNs);
    const timeNs = fromNs + ((x - left) / Math.max(right - left, 1)) * (toNs - fromNs);
    const series = this.known.filter(one => !context.view.hidden.includes(one));
    const lines = series.map(one => ({ part: one, name: SERIES_NAMES[one], bytes: data.bytesAt(one, timeNs) }));
    const when = formatDuration(timeNs);
    const title = this.steps?.axis ? `${timeText(timeNs, this.steps.axis)} · ${when}` : when;
    const groups = { stack: this.stack, names: this.groupNames(), slots: this.slots };
    this.tooltip.show(x, { left, right }, { title, lines, ...groups, timeNs });
  };

  /** The chart in words. */
  private description(): string {
    const { context, data, steps } = this;
    if (!context) return HINT;
    const window = visibleWindow(this.zoom, context.runNs);
    const now = this.known.map(
      series => `${SERIES_NAMES[series]} ${formatBytes(data?.bytesAt(series, window.toNs) ?? 0)}`,
    );
    const peak = data?.peak(this.areaSeries);
    const groups = this.groupNames().map(({ name }) => name);
    return [
      t('GPU memory from {0} to {1}.', formatDuration(window.fromNs), formatDuration(window.toNs)),
      t('At the end: {0}.', now.join(', ')),
      peak ? t('Highest: {0} at {1}.', formatBytes(peak.bytes), timeText(peak.fromNs, this.shownSteps)) : '',
      groups.length > 0 ? t('Biggest: {0}.', groups.join(', ')) : '',
      steps && steps.collections.length > 0 ? t('{0} full collections.', steps.collections.length) : '',
      HINT,
    ].join(' ');
  }

  private inputState() {
    const { zoom, span, selecting } = this;
    return {
      zoom,
      span,
      selecting,
      runNs: this.context?.runNs ?? 0,
      steps: this.shownSteps,
      plot: this.chart.plot,
    };
  }

  /** Steps where they are known and wanted. */
  private get shownSteps(): StepTimes | null {
    return this.context?.view.axis === 'time' ? null : (this.steps?.axis ?? null);
  }

  private drawn(span: Span | null, done: boolean): void {
    this.setSpan(span && toSteps(span, this.shownSteps, this.context?.runNs ?? 0));
    if (!done) return;
    this.actions.spanned();
    if (span) this.setSelecting(false);
    this.bar.announce(this.span ? t('Selected: {0}', spanText(this.span, this.shownSteps)) : t('No selection'));
  }

  private setSpan(span: Span | null): void {
    this.span = span;
    this.kept = null;
    onFrame(this.draw);
  }

  private setSelecting(on: boolean): void {
    this.selecting = on;
    this.surface.classList.toggle('selecting', on);
    onFrame(this.draw);
  }

  private choose(choice: SpanChoice): void {
    const { span } = this;
    const steps = this.shownSteps;
    if (!span) return;
    if (choice === 'born') return this.actions.show(bornIn(span, steps));
    if (choice === 'end') return this.actions.show(aliveAtEnd(span, steps));
    this.actions.showPeak({ series: this.areaSeries, ...span }, spanText(span, steps));
  }

  private openMark({ kind, timeNs, label }: TimelineMark): void {
    if (kind === 'peak') {
      const peak = this.data?.peak(this.areaSeries);
      if (peak) this.actions.showPeak({ series: this.areaSeries, fromNs: peak.fromNs, toNs: peak.toNs }, '');
      return;
    }
    const at = timeText(timeNs, this.shownSteps);
    const titles = {
      'out-of-memory': t('Alive when memory ran out, {0}', at),
      named: t('Alive at {0}, {1}', label, at),
      collection: t('Alive at the end of {0}', at),
    };
    this.actions.show({ moment: { kind: 'at', timeNs: Math.floor(timeNs) }, title: titles[kind] });
  }

  private movePointer(x: number | null): void {
    this.pointerX = x;
    onFrame(this.drawCursor);
  }

  private move(zoom: Zoom): void {
    this.zoom = zoom; // several wheel events come between two updates
    onFrame(this.draw);
    this.actions.zoom(zoom);
  }
}
