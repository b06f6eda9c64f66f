// The timeline: areas and lines, what lies over them, and what is below and above them.
import { t } from '@vscode/l10n';
import { formatBytes, formatDuration } from '../../../extension/text/format';
import type { StepTimes } from '../../../extension/protocol/requests/timelineRequests';
import { aliveNow, knownPeak } from '../../../extension/protocol/trace';
import type { Moment } from '../../../extension/protocol/requests/moment';
import { el, onFrame, setAttribute } from '../../dom';
import { TimelineChart, type Curve, type DrawnSeries } from './chart';
import type { PageActions, PageContext } from '../state/part';
import { onThemeChange } from '../common/theme';
import { stepTicks } from './axis';
import { bandsIn, doneAt } from './bands';
import { TimelineBar } from './bar';
import { ChosenTime } from './chosenTime';
import { DRAWN } from './data';
import { NO_ANSWERS, type DrawnAnswers } from './drawnAnswers';
import { TimelineInput, type InputActions } from './input';
import { gapsOf, gapWords, labelRows, marksOf, placeMarks, searchesOf, type TimelineMark } from './timelineMarks';
import type { MomentReader } from './timelineMoment';
import { PeakCardView } from './peakCard';
import { TimelineOverlay, type Overlaid } from './overlay';
import { peakPlace, peakText, spanText, timeText } from './span';
import { TimelineResizer } from './resizer';
import { groupName, stackEdges, type GroupName } from './timelineStack';
import { SERIES_NAMES, TimelineTools } from './tools';
import { TimelineTooltip } from './timelineTooltip';
import { FOLLOW, visibleWindow, type Zoom } from '../state/zoom';

interface TimelineActions {
  /** There is no data, or for another width. */
  need(): void;
  /** Another span is selected: what is kept of it is to be requested. */
  spanned(): void;
}

type ShownPeak = NonNullable<ReturnType<TimelineView['peak']>>;

const MARK_GAP_PX = 6;
const NEAR_PX = 3;
const HINT = t(
  'Left and Right go from step to step, Page Up and Page Down further, Home and End to the first and the last; Escape returns to the newest, then to the whole run. Shift+Left and Shift+Right select a span, Shift+Up and Shift+Down move it, Enter shows its memory. Plus and minus zoom, 0 shows the whole run. On a marker, Left and Right go to the next one.',
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
  readonly peakCard: PeakCardView;
  private readonly resizer: TimelineResizer;
  private readonly input: TimelineInput;
  private context: PageContext | null = null;
  private answers = NO_ANSWERS;
  private slots: readonly number[] = [];
  private zoom: Zoom = FOLLOW;
  private readonly chosen: ChosenTime;
  private pointerX: number | null = null;

  constructor(
    private readonly page: PageActions,
    private readonly moments: MomentReader,
    private readonly actions: TimelineActions,
  ) {
    this.tools = new TimelineTools(page, DRAWN);
    this.overlay = new TimelineOverlay(
      mark => this.openMark(mark),
      () => {
        this.surface.focus();
        this.move(FOLLOW);
      },
    );
    this.bar = new TimelineBar({
      choose: choice => this.chosen.show(choice),
      clear: () => this.chosen.drop(),
      cancel: () => moments.cancel(),
      now: () => this.chosen.now(),
    });
    this.peakCard = new PeakCardView((file, line) => page.openLine(file, line));
    this.surface.append(this.overlay.element, this.tooltip.cursor);
    this.resizer = new TimelineResizer(this.surface, px => page.dispatch({ type: 'timelinePx', timelinePx: px }));
    this.element = el('section', { class: 'timeline', 'aria-label': t('Timeline') });
    const plot = el('div', { class: 'timeline-plot' }, this.surface, this.tools.toggle, this.tooltip.box);
    this.element.append(this.tools.element, plot, this.resizer.element, this.bar.element);
    this.chart = new TimelineChart(this.canvas, () => onFrame(this.draw));
    onThemeChange(() => {
      this.chart.recolour();
      onFrame(this.draw);
    });
    const state = () => {
      const { context, zoom, shownSteps: steps, areaSeries } = this;
      return { context, zoom, steps, areaSeries };
    };
    this.chosen = new ChosenTime(moments, state, {
      changed: () => this.take({ kept: null }),
      spanned: () => actions.spanned(),
      zoom: zoom => this.move(zoom),
      announce: text => this.bar.announce(text),
    });
    this.input = new TimelineInput(this.surface, () => this.inputState(), this.inputActions());
  }

  /** The process whose steps are on the axis; the first one where none has any. */
  get steppedProcess(): number {
    return this.answers.steps?.axis?.process ?? 0;
  }

  /** Width of the plot in pixels, for the number of buckets to request. */
  get pixels(): number {
    return this.chart.width;
  }

  /** Series that hold anything in the window. */
  private get known(): DrawnSeries[] {
    return DRAWN.filter(series => this.answers.data?.has(series));
  }

  /** What the areas are made of: tensors, or the driver's memory where there are none. */
  get areaSeries(): 'tensor' | 'driver' {
    const { data } = this.answers;
    return data === null || data.has('tensor') || !data.has('driver') ? 'tensor' : 'driver';
  }

  /** Draws these answers from now on; the others stay. */
  take(answers: Partial<DrawnAnswers>): void {
    const { reading } = answers;
    if (reading && !this.answers.reading)
      this.bar.announce(t('Reading up to {0}', timeText(reading.untilNs, this.shownSteps)));
    this.answers = { ...this.answers, ...answers };
    onFrame(this.draw);
  }

  /** What is selected, as a moment; null without a selection. */
  get selected(): Moment | null {
    const { span } = this.chosen;
    return span && this.chosen.bornIn(span).moment;
  }

  forget(): void {
    this.answers = NO_ANSWERS;
    this.chosen.forget();
    this.bar.announce('');
  }

  update(context: PageContext): void {
    if (context.view.momentTitle !== this.context?.view.momentTitle)
      this.bar.announce(context.view.momentTitle === '' ? '' : t('Shown: {0}', context.view.momentTitle));
    if (context.view.moment !== this.context?.view.moment) this.chosen.arrived();
    this.context = context;
    this.zoom = context.view.zoom;
    this.tools.setShown(context.view.tools);
    this.resizer.set(context.view.timelinePx);
    onFrame(this.draw);
  }

  private readonly draw = (): void => {
    const { context } = this;
    if (!context) return;
    const { view, runNs, info } = context;
    const { data, steps } = this.answers;
    const window = visibleWindow(this.zoom, runNs);
    const axis = this.shownSteps;
    const pixelNs = (window.toNs - window.fromNs) / this.chart.width;
    const isEmpty = this.known.length === 0 && this.zoom.spanNs === null;
    const ticks = isEmpty ? [] : axis && stepTicks(axis, window, this.chart.labels, pixelNs * MARK_GAP_PX);
    const groups = this.groupNames();
    const slots = (this.slots = this.answers.stack?.slots ?? []);
    this.chart.draw({
      curves: this.curves(window.toNs),
      groups: this.edges(),
      slots,
      window,
      leastTop: this.forecastBytes ?? 0,
      bands: bandsIn(this.work, window, runNs, this.chart.width),
      cuts: info.outOfMemoryCount === 0,
      ticks,
    });
    if (!data?.question.fits(this.chart.width)) this.actions.need();
    this.tools.update({ stack: view.stack, axis: view.axis, steps: steps !== null && steps.axis !== null });
    this.tools.setSeries(this.known, view.hidden);
    this.tools.setGroups(groups, slots);
    const overlaid = this.overlaid(context);
    this.chart.setLabelRows(labelRows(overlaid.marks));
    this.overlay.draw({ ...overlaid, plot: this.chart.plot, forecast: this.forecast }, this.chart.width);
    this.drawBar();
    this.peakCard.update(this.answers.peak);
    setAttribute(this.surface, 'aria-label', this.description());
    this.drawCursor();
  };

  private curves(untilNs: number): Curve[] {
    const { hidden, stack } = this.context?.view ?? {};
    return DRAWN.map(series => ({
      series,
      points: this.answers.data?.points(series, untilNs) ?? [],
      shown: hidden?.includes(series) !== true,
      area: series === this.areaSeries && (stack?.by === 'none' || this.answers.stack !== null), // not first whole
    }));
  }

  /** While its tab is open. */
  private get forecastBytes(): number | null {
    const { tab, forecastBytes } = this.context?.view ?? {};
    return tab === 'fit' ? (forecastBytes ?? null) : null;
  }

  private get forecast(): Overlaid['forecast'] {
    const bytes = this.forecastBytes;
    if (bytes === null) return null;
    return { y: this.chart.yOf(bytes), label: t('Forecast, reserved: {0}', formatBytes(bytes)) };
  }

  private edges(): ReturnType<typeof stackEdges> {
    const { context } = this;
    const { stack, data } = this.answers;
    if (!stack || !data || !context) return [];
    const window = visibleWindow(this.zoom, context.runNs);
    return stackEdges(stack, window, this.chart.width, data.points(this.areaSeries, window.toNs));
  }

  private get work() {
    const { passes, ranges, steps } = this.answers;
    return { passes, ranges, searches: searchesOf(steps) };
  }

  private groupNames(): GroupName[] {
    const { context } = this;
    const { stack } = this.answers;
    const by = context?.view.stack.by ?? 'none';
    if (!stack || !context || by === 'none') return [];
    return stack.groups.map(group => groupName(group, by, context.info.processes));
  }

  private overlaid(context: PageContext): Omit<Overlaid, 'plot' | 'forecast'> {
    const { info, runNs, session } = context;
    const { span, momentNs } = this.chosen;
    const window = visibleWindow(this.zoom, runNs);
    const { steps } = this.answers;
    const marks = marksOf(info, steps, session.marks, this.peak(context));
    return {
      window,
      span,
      momentNs,
      zoomed: this.zoom.spanNs !== null,
      gaps: gapsOf(info, steps, runNs),
      marks: placeMarks(marks, window, this.chart.width, this.zoom.spanNs !== null),
    };
  }

  /** The peak of the window; where the totals have it, to the nanosecond. `when`: in which step or at which time. */
  private peak({ info, runNs, view: { process, device } }: PageContext) {
    const series = this.areaSeries;
    const peak = this.answers.data?.peak(series);
    if (!peak) return null;
    const zoomed = this.zoom.spanNs !== null;
    const query = { series, process, device };
    const known = knownPeak(info, query) ?? (zoomed ? null : aliveNow(info, query));
    const { fromNs, toNs } = visibleWindow(this.zoom, runNs);
    // While the program runs the totals are newer than what is drawn.
    const isExact = known && known.bytes >= peak.bytes && known.timeNs >= fromNs && known.timeNs <= toNs;
    const span = isExact ? { bytes: known.bytes, fromNs: known.timeNs, toNs: known.timeNs } : peak;
    const inView = !isExact && zoomed;
    return { ...span, inView, timeNs: span.fromNs, when: peakText(span, this.answers.steps?.axis ?? null) };
  }

  /** What a pointed time stands for, under the mouse and in a click: near the peak's mark the peak, which a pixel may miss by a step. */
  private pointedAt(pointed: number): { timeNs: number; bytes: number; peak?: ShownPeak } {
    const { data } = this.answers;
    if (!data || !this.context) return { timeNs: pointed, bytes: 0 };
    const peak = this.peak(this.context);
    const { fromNs, toNs } = visibleWindow(this.zoom, this.context.runNs);
    const nearNs = (NEAR_PX * (toNs - fromNs)) / this.chart.width;
    if (peak && Math.abs(peak.timeNs - pointed) <= nearNs) return { timeNs: peak.timeNs, bytes: peak.bytes, peak };
    return data.momentAt(this.areaSeries, pointed);
  }

  private drawBar(): void {
    const { span, choice } = this.chosen;
    const { reading } = this.answers;
    const steps = this.shownSteps;
    const part = reading ? Math.floor((reading.readNs / Math.max(reading.untilNs, 1)) * 100) : 0;
    this.bar.update({
      span: span ? spanText(span, steps) : null,
      choice,
      fact: this.chosen.fact(this.answers.kept),
      reading: reading ? t('Reading up to {0}… {1}%', timeText(reading.untilNs, steps), part) : null,
      moment: choice !== null || (span !== null && this.chosen.target === null) ? null : this.chosen.title,
      reason: this.chosen.reason,
      to: this.chosen.target,
    });
  }

  private readonly drawCursor = (): void => {
    const { context, pointerX: x } = this;
    const { data, stack, steps } = this.answers;
    const { left, right } = this.chart.plot;
    const inside = data !== null && x !== null && x >= left && x <= right && !this.input.busy;
    if (!inside || !context) return this.tooltip.hide();
    const { fromNs, toNs } = visibleWindow(this.zoom, context.runNs);
    const pixelNs = (toNs - fromNs) / Math.max(right - left, 1);
    const { timeNs, bytes: totalBytes, peak } = this.pointedAt(fromNs + (x - left) * pixelNs);
    const series = this.known.filter(one => !context.view.hidden.includes(one));
    const bytes = (part: DrawnSeries) => (part === this.areaSeries ? totalBytes : data.momentAt(part, timeNs).bytes);
    const lines = series.map(part => ({ part, name: SERIES_NAMES[part], bytes: bytes(part) }));
    const search = this.work.searches.find(one => timeNs >= one.fromNs && timeNs < one.toNs);
    const done = search ? [gapWords(search).title] : doneAt(this.work, timeNs, context.runNs);
    const step = peak?.when ?? timeText(timeNs, steps?.axis ?? null);
    const title = [...new Set([step, formatDuration(timeNs), ...done])].join(' · ');
    const groups = { stack, names: this.groupNames(), slots: this.slots, totalBytes, isPeak: peak !== undefined };
    this.tooltip.show(x, { title, lines, ...groups, timeNs });
  };

  /** The chart in words. */
  private description(): string {
    const { context } = this;
    if (!context) return HINT;
    const { data, steps } = this.answers;
    const window = visibleWindow(this.zoom, context.runNs);
    const now = this.known.map(
      series => `${SERIES_NAMES[series]} ${formatBytes(data?.momentAt(series, window.toNs).bytes ?? 0)}`,
    );
    const peak = this.peak(context);
    const groups = this.groupNames().map(({ name }) => name);
    return [
      t('GPU memory from {0} to {1}.', formatDuration(window.fromNs), formatDuration(window.toNs)),
      t('At the end: {0}.', now.join(', ')),
      peak ? t('Highest: {0} at {1}.', formatBytes(peak.bytes), peak.when) : '',
      groups.length > 0 ? t('Largest: {0}.', groups.join(', ')) : '',
      this.forecast ? `${this.forecast.label}.` : '',
      steps && steps.collections.length > 0 ? t('{0} full garbage collections.', steps.collections.length) : '',
      HINT,
    ].join(' ');
  }

  private inputActions(): InputActions {
    const { chosen } = this;
    return {
      zoom: zoom => this.move(zoom),
      pointer: x => this.movePointer(x),
      span: (span, done) => {
        if (done) this.movePointer(null); // as after a click
        chosen.select(span, done);
      },
      nudge: (move, whole) => chosen.nudge(move, whole),
      moment: timeNs => {
        this.movePointer(null); // what it names has the place of the tooltip
        const pointed = this.pointedAt(timeNs);
        if (pointed.peak) this.showPeak(pointed.peak);
        else chosen.goTo(pointed.timeNs);
      },
      step: to => chosen.step(to),
      apply: () => chosen.show('born'),
      back: () => chosen.back(),
    };
  }

  private inputState() {
    const { zoom } = this;
    return { zoom, span: this.chosen.span, runNs: this.context?.runNs ?? 0, plot: this.chart.plot };
  }

  /** Steps where they are known and chosen. */
  private get shownSteps(): StepTimes | null {
    return this.context?.view.axis === 'time' ? null : (this.answers.steps?.axis ?? null);
  }

  openMark({ kind, timeNs, label }: TimelineMark): void {
    this.movePointer(null);
    const peak = this.context && this.peak(this.context);
    if (kind === 'peak') return peak ? this.showPeak(peak) : undefined;
    this.chosen.leaveSpan({ fromNs: timeNs, toNs: timeNs });
    const at = timeText(timeNs, this.shownSteps);
    const titles = {
      'out-of-memory': t('Live when memory ran out, {0}', at),
      named: t('Live at {0}, {1}', label, at),
      collection: t('Live at the end of {0}', at),
    };
    void this.moments.show({ moment: { kind: 'at', timeNs: Math.floor(timeNs) }, title: titles[kind] });
  }

  private showPeak(peak: ShownPeak): void {
    this.chosen.showPeak(peak, () => peakPlace(peak, this.answers.steps?.axis ?? null));
  }

  private movePointer(x: number | null): void {
    this.pointerX = x;
    onFrame(this.drawCursor);
  }

  private move(zoom: Zoom): void {
    this.zoom = zoom; // several wheel events come between two updates
    onFrame(this.draw);
    this.page.dispatch({ type: 'zoom', zoom });
  }
}
