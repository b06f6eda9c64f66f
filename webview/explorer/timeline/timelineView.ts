// The timeline: areas and lines, what lies over them, and what is below and above them.
import { t } from '@vscode/l10n';
import { formatBytes, formatDuration } from '../../../extension/text/format';
import type {
  MomentReading,
  ColouredStack,
  PeakCard,
  StepTimes,
  TimelineSteps,
} from '../../../extension/protocol/requests/timelineRequests';
import { rangePath } from '../../../extension/protocol/ranges';
import type { NamedRange, PassBegins } from '../../../extension/protocol/trace';
import type { Moment } from '../../../extension/protocol/requests/moment';
import { el, onFrame, setAttribute } from '../../dom';
import { TimelineChart, type Curve, type DrawnSeries } from './chart';
import type { PageActions, PageContext } from '../state/part';
import { nameLines } from '../common/hues';
import { WORDS } from '../common/vocabularyWords';
import { onThemeChange } from '../common/theme';
import { stepTicks } from './axis';
import { passAt, passBands, rangeBands } from './bands';
import { TimelineBar, type SpanChoice } from './bar';
import { DRAWN, type TimelineData } from './data';
import { TimelineInput } from './input';
import { gapsOf, marksOf, placeMarks, type TimelineMark } from './timelineMarks';
import type { MomentReader } from './timelineMoment';
import { PeakCardView } from './peakCard';
import { TimelineOverlay, type Overlaid } from './overlay';
import { aliveAtEnd, bornIn, spanText, timeText, toSteps, type Span } from './span';
import { TimelineResizer } from './resizer';
import { groupName, stackEdges, type GroupName } from './timelineStack';
import { SERIES_NAMES, TimelineTools } from './tools';
import { TimelineTooltip } from './timelineTooltip';
import { FOLLOW, visibleWindow, type Zoom } from '../state/zoom';

interface TimelineActions {
  /** The data was requested for another width. */
  need(): void;
  /** Another span is selected: what is kept of it is to be requested. */
  spanned(): void;
}

/** What the host answered; null: not (yet), or not for what is shown. */
interface TimelineAnswers {
  data: TimelineData | null;
  stack: ColouredStack | null;
  steps: TimelineSteps | null;
  passes: PassBegins;
  ranges: readonly NamedRange[];
  /** The peak that is shown. */
  peak: PeakCard | null;
  /** Bytes that were allocated in the span and are still alive. */
  kept: number | null;
  /** The moment that is being read. */
  reading: MomentReading | null;
}
const NO_ANSWERS: TimelineAnswers = {
  ...{ data: null, stack: null, steps: null, kept: null, reading: null, peak: null },
  passes: new Float64Array(),
  ranges: [],
};

const MARK_GAP_PX = 6;
const HINT = t(
  'Arrow keys move, plus and minus zoom, Home follows the run. Shift with left and right selects a span, with up and down moves it; Enter shows what it holds, Escape clears it. On a mark, left and right lead to the next one.',
);

/** Why the shown moment is shown by itself; '' where the user chose it. */
function reasonOf({ view: { moment }, session: { ending } }: PageContext): string {
  return moment.kind === 'at' && moment.timeNs === ending?.timeNs ? t('because {0}', ending.reason) : '';
}

export class TimelineView {
  readonly element: HTMLElement;
  private readonly canvas = el('canvas', { 'aria-hidden': 'true' });
  private readonly surface = el('div', { class: 'timeline-surface', tabindex: 0, role: 'application' }, this.canvas);
  private readonly chart: TimelineChart;
  private readonly tools: TimelineTools;
  private readonly overlay: TimelineOverlay;
  private readonly tooltip = new TimelineTooltip();
  private readonly bar: TimelineBar;
  private readonly peakCard: PeakCardView;
  private readonly resizer: TimelineResizer;
  private readonly input: TimelineInput;
  private context: PageContext | null = null;
  private answers = NO_ANSWERS;
  private slots: readonly number[] = [];
  private zoom: Zoom = FOLLOW;
  private span: Span | null = null;
  private selecting = false;
  private pointerX: number | null = null;

  constructor(
    private readonly page: PageActions,
    private readonly moments: MomentReader,
    private readonly actions: TimelineActions,
  ) {
    this.tools = new TimelineTools(page, DRAWN, {
      select: on => this.setSelecting(on),
    });
    this.overlay = new TimelineOverlay(mark => this.openMark(mark));
    this.bar = new TimelineBar({
      choose: choice => this.choose(choice),
      clear: () => this.setSpan(null),
      cancel: () => moments.cancel(),
      now: () => moments.reset(),
    });
    this.peakCard = new PeakCardView((file, line) => page.openLine(file, line));
    this.surface.append(this.overlay.element, this.tooltip.cursor);
    this.resizer = new TimelineResizer(this.surface, px => page.dispatch({ type: 'timelinePx', timelinePx: px }));
    this.element = el('section', { class: 'timeline', 'aria-label': t('Timeline') });
    const plot = el('div', { class: 'timeline-plot' }, this.surface, this.tools.toggle, this.tooltip.box);
    this.element.append(this.tools.element, plot, this.resizer.element, this.bar.element, this.peakCard.element);
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
  take(answers: Partial<TimelineAnswers>): void {
    const { reading } = answers;
    if (reading && !this.answers.reading)
      this.bar.announce(t('Reading up to {0}', timeText(reading.untilNs, this.shownSteps)));
    this.answers = { ...this.answers, ...answers };
    onFrame(this.draw);
  }

  /** What is selected, as a moment; null without a selection. */
  get selected(): Moment | null {
    return this.span && bornIn(this.span, this.shownSteps).moment;
  }

  forget(): void {
    this.answers = NO_ANSWERS;
    this.span = null;
  }

  update(context: PageContext): void {
    if (context.view.momentTitle !== this.context?.view.momentTitle)
      this.bar.announce(context.view.momentTitle === '' ? '' : t('Shown: {0}', context.view.momentTitle));
    this.context = context;
    this.zoom = context.view.zoom;
    this.tools.setShown(context.view.tools);
    this.resizer.set(context.view.timelinePx);
    onFrame(this.draw);
  }

  private readonly draw = (): void => {
    const { context } = this;
    if (!context) return;
    const { view, runNs } = context;
    const { data, steps } = this.answers;
    const window = visibleWindow(this.zoom, runNs);
    const axis = this.shownSteps;
    const pixelNs = (window.toNs - window.fromNs) / this.chart.width;
    const ticks = axis ? stepTicks(axis, window, this.chart.labels, pixelNs * MARK_GAP_PX) : null;
    const groups = this.groupNames();
    const titles = groups.map(({ title }) => title);
    const slots = (this.slots = this.answers.stack?.slots ?? []);
    if (view.stack.by === 'line') nameLines(titles, slots);
    this.chart.draw({ curves: this.curves(window.toNs), groups: this.edges(), slots, window, ticks });
    if (data && !data.question.fits(this.chart.width)) this.actions.need();
    this.tools.update({
      stack: view.stack,
      axis: view.axis,
      steps: steps !== null && steps.axis !== null,
      selecting: this.selecting,
      following: this.zoom.spanNs === null,
    });
    this.tools.setSeries(this.known, view.hidden);
    this.tools.setGroups(groups, slots);
    this.overlay.draw(this.overlaid(context), this.chart.width);
    this.drawBar();
    this.peakCard.update(this.answers.peak);
    setAttribute(this.surface, 'aria-label', this.description());
    this.drawCursor();
  };

  private curves(untilNs: number): Curve[] {
    const hidden = this.context?.view.hidden ?? [];
    return DRAWN.map(series => ({
      series,
      points: this.answers.data?.points(series, untilNs) ?? [],
      shown: !hidden.includes(series),
      area: series === this.areaSeries,
    }));
  }

  private edges(): ReturnType<typeof stackEdges> {
    const { context } = this;
    const { stack, data } = this.answers;
    if (!stack || !data || !context) return [];
    const ceiling = (at: number): number => data.leastFrom(this.areaSeries, stack.toNs[at - 1] ?? stack.fromNs);
    return stackEdges(stack, visibleWindow(this.zoom, context.runNs), this.chart.width, ceiling);
  }

  private groupNames(): GroupName[] {
    const { context } = this;
    const { stack } = this.answers;
    const by = context?.view.stack.by ?? 'none';
    if (!stack || !context || by === 'none') return [];
    return stack.groups.map(group => groupName(group, by, context.info.processes));
  }

  private overlaid({ info, runNs, session }: PageContext): Overlaid {
    const { span } = this;
    const { plot, width } = this.chart;
    const window = visibleWindow(this.zoom, runNs);
    const { data, steps } = this.answers;
    const peak = data?.peak(this.areaSeries) ?? null;
    const marks = marksOf(info, steps, session.marks, peak && { timeNs: peak.fromNs, bytes: peak.bytes });
    const passes = passBands(this.answers.passes, window, runNs, width);
    const bands = [...passes, ...rangeBands(this.answers.ranges, window, runNs, Math.min(1, passes.length))];
    return { plot, window, span, bands, gaps: gapsOf(info, steps, runNs), marks: placeMarks(marks, window, width) };
  }

  private drawBar(): void {
    const { span, context } = this;
    const { reading, kept } = this.answers;
    const steps = this.shownSteps;
    const part = reading ? Math.floor((reading.readNs / Math.max(reading.untilNs, 1)) * 100) : 0;
    this.bar.update({
      span: span ? spanText(span, steps) : null,
      kept: kept === null ? '' : t('{0} kept', formatBytes(kept)),
      reading: reading ? t('Reading up to {0}… {1} %', timeText(reading.untilNs, steps), part) : null,
      moment: context?.view.momentTitle || null,
      reason: context ? reasonOf(context) : '',
      ended: context?.session.phase === 'ended',
    });
  }

  private readonly drawCursor = (): void => {
    const { context, pointerX: x } = this;
    const { data, stack, steps } = this.answers;
    const { left, right } = this.chart.plot;
    const inside = data !== null && x !== null && x >= left && x <= right && !this.input.busy;
    if (!inside || !context) return this.tooltip.hide();
    const { fromNs, toNs } = visibleWindow(this.zoom, context.runNs);
    const timeNs = fromNs + ((x - left) / Math.max(right - left, 1)) * (toNs - fromNs);
    const series = this.known.filter(one => !context.view.hidden.includes(one));
    const lines = series.map(one => ({ part: one, name: SERIES_NAMES[one], bytes: data.bytesAt(one, timeNs) }));
    const when = formatDuration(timeNs);
    const pass = passAt(this.answers.passes, timeNs);
    const during = [pass === 'other' ? '' : WORDS.passes[pass], rangePath(this.answers.ranges, timeNs)];
    const title = [steps?.axis ? timeText(timeNs, steps.axis) : '', when, ...during].filter(Boolean).join(' · ');
    const groups = { stack, names: this.groupNames(), slots: this.slots };
    this.tooltip.show(x, { left, right }, { title, lines, ...groups, timeNs });
  };

  /** The chart in words. */
  private description(): string {
    const { context } = this;
    if (!context) return HINT;
    const { data, steps } = this.answers;
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
    const { zoom, span, selecting, shownSteps: steps } = this;
    return { zoom, span, selecting, steps, runNs: this.context?.runNs ?? 0, plot: this.chart.plot };
  }

  /** Steps where they are known and chosen. */
  private get shownSteps(): StepTimes | null {
    return this.context?.view.axis === 'time' ? null : (this.answers.steps?.axis ?? null);
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
    this.take({ kept: null });
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
    if (choice === 'peak') this.showPeak(span, spanText(span, steps));
    else void this.moments.show(choice === 'born' ? bornIn(span, steps) : aliveAtEnd(span, steps));
  }

  /** `where` follows "Alive at the peak". */
  private showPeak({ fromNs, toNs }: Span, where: string): void {
    if (!this.context) return;
    const { process, device } = this.context.view;
    void this.moments.showPeak({ series: this.areaSeries, fromNs, toNs, process, device }, where);
  }

  private openMark({ kind, timeNs, label }: TimelineMark): void {
    if (kind === 'peak') {
      const peak = this.answers.data?.peak(this.areaSeries);
      if (peak) this.showPeak(peak, '');
      return;
    }
    const at = timeText(timeNs, this.shownSteps);
    const titles = {
      'out-of-memory': t('Alive when memory ran out, {0}', at),
      named: t('Alive at {0}, {1}', label, at),
      collection: t('Alive at the end of {0}', at),
    };
    void this.moments.show({ moment: { kind: 'at', timeNs: Math.floor(timeNs) }, title: titles[kind] });
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
