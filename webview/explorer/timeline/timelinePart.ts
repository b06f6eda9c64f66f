// The timeline with its data: requested for the window and the width that are shown.
import { PolledPart, type PageActions, type PageContext } from '../state/part';
import { FIGURES_MS, Poller } from '../state/poller';
import { ALL, type Action } from '../state/state';
import type { TraceInfo } from '../../../extension/protocol/trace';
import { CLOCK_NS } from '../../../extension/protocol/requests/moment';
import type { StepTimes } from '../../../extension/protocol/requests/timelineRequests';
import { HUE_COUNT } from '../../../extension/protocol/lineHue';
import { onFrame } from '../../dom';
import { failedStep } from '../common/counts';
import { nameLines } from '../common/hues';
import { READABLE_PX } from './bands';
import { questionFor, TimelineData } from './data';
import { MomentReader } from './timelineMoment';
import { stepIn, type TitledMoment } from './span';
import { TimelineView } from './timelineView';
import { FOLLOW, visibleWindow, type TimeWindow } from '../state/zoom';

/** Groups and steps change slowly, and cost more than the series. */
const SLOW_MS = 1000;
/** As many as the trace keeps, so that each view names the same step. */
const AXIS_POINTS = 2048;
const WIDE_PX = 460;
/** Width of a plot that is not laid out: the answer for a single pixel has no shape. */
const UNPLACED_PX = 1;
const NARROW_GROUPS = 4;

/** No rows are needed. */
const ONLY_SUMS = { groupBy: 'site', sort: 'liveBytes', descending: true, from: 0, to: 0 } as const;

export class TimelinePart extends PolledPart {
  private readonly view: TimelineView;
  private readonly slow = new Poller(() => this.loadSlow(), SLOW_MS);
  private readonly moments: MomentReader;
  private steps: StepTimes | null = null;
  /** Width of the plot at the newest request. */
  private requestedPixels = UNPLACED_PX;

  /** @param stepped steps may be known that were not */
  constructor(
    page: PageActions,
    private readonly stepped: () => void,
  ) {
    super(page, FIGURES_MS);
    this.moments = new MomentReader(page, reading => this.view.take({ reading }));
    this.view = new TimelineView(page, this.moments, {
      need: () => this.view.pixels !== this.requestedPixels && this.poller.invalidate(),
      spanned: () => void this.loadKept(),
    });
  }

  get element(): HTMLElement {
    return this.view.element;
  }

  /** What explains a peak. */
  get peak(): HTMLElement {
    return this.view.peakCard.element;
  }

  override update(context: PageContext): void {
    this.view.update(context);
  }

  /** The peak of the whole run, with its card. */
  openPeak(): void {
    this.page.dispatch({ type: 'zoom', zoom: FOLLOW });
    onFrame(() => this.view.openMark({ kind: 'peak', timeNs: 0, label: '', title: '' }));
  }

  show(titled: TitledMoment): void {
    void this.moments.show(titled);
  }

  /** The step that ran at a time: of an allocation that failed, the one that it failed in, and after that none before it; 0: not known. */
  stepAt(timeNs: number, info: Pick<TraceInfo, 'outOfMemory' | 'steps'>): number {
    const failed = failedStep(info, timeNs - CLOCK_NS, timeNs + CLOCK_NS);
    return failed || Math.max(stepIn(timeNs, this.steps) ?? 0, failedStep(info, 0, timeNs));
  }

  override invalidate(): void {
    super.invalidate();
    this.slow.invalidate();
  }

  override changed(action: Action): void {
    const scope = action.type === 'process' || action.type === 'device';
    if (action.type === 'moment' || scope) void this.loadPeak();
    if (action.type === 'zoom' || scope) this.poller.invalidate();
    if (action.type === 'stack' || scope) this.slow.invalidate(true);
  }

  forget(): void {
    this.moments.forget();
    this.steps = null;
    this.view.forget();
    this.slow.invalidate(true);
    void this.loadPeak();
  }

  /** Whose passes are shown: the chosen one's, or that of the steps on the axis. */
  private process(): number {
    const { process } = this.scope();
    return process === ALL ? this.view.steppedProcess : process;
  }

  /** Explains the shown moment where it is a peak. */
  private async loadPeak(): Promise<void> {
    const { moment } = this.page.now()?.view ?? {};
    if (moment?.kind !== 'at' || !moment.peak) return this.view.take({ peak: null });
    const peak = await this.page.request('peakCard', { moment, ...this.scope() });
    if (this.page.now()?.view.moment === moment) this.view.take({ peak: peak ?? null });
  }

  private scope(): { process: number; device: number } {
    const view = this.page.now()?.view;
    return { process: view?.process ?? ALL, device: view?.device ?? ALL };
  }

  protected async load(): Promise<void> {
    const context = this.page.now();
    if (!context) return;
    const { view, runNs } = context;
    const { pixels } = this.view;
    this.requestedPixels = pixels;
    if (pixels === UNPLACED_PX) return;
    const question = questionFor(visibleWindow(view.zoom, runNs), pixels, this.scope());
    const answers = await this.page.request('timeline', { series: question.series });
    if (!answers) return;
    const before = this.view.areaSeries;
    this.view.take({ data: new TimelineData(question, answers) }); // of the moment of the other figures
    // The page's clock may be behind the newest event, and no other need come for long.
    const newestNs = this.page.now()?.info.durationNs ?? 0;
    if (view.zoom.endNs === null && newestNs > question.window.toNs) this.poller.invalidate();
    const within = { process: this.process(), ...whole(question.window) };
    const passes = await this.page.request('passes', within);
    const pixelNs = (within.toNs - within.fromNs) / Math.max(this.view.pixels, 1);
    const ranges = await this.page.request('ranges', { ...within, leastNs: Math.floor(pixelNs * READABLE_PX) });
    this.view.take({ ...(passes && { passes }), ...(ranges && { ranges }) });
    if (this.view.areaSeries !== before) this.slow.invalidate(true); // the groups are those of the other layer
  }

  /** How much of what was allocated in the selected span is still there. */
  private async loadKept(): Promise<void> {
    const moment = this.view.selected;
    if (!moment) return;
    const query = { ...ONLY_SUMS, layer: this.view.areaSeries, ...this.scope(), moment };
    const kept = await this.page.request('sites', query);
    if (kept && JSON.stringify(this.view.selected) === JSON.stringify(moment))
      this.view.take({ kept: kept.sumLiveBytes });
  }

  private async loadSlow(): Promise<void> {
    void this.loadKept();
    const context = this.page.now();
    if (!context) return;
    const { stack } = context.view;
    const steps = await this.page.request('timelineSteps', { points: AXIS_POINTS });
    if (steps) {
      this.view.take({ steps });
      this.steps = steps.axis;
      this.stepped();
    }
    if (stack.by === 'none') return this.view.take({ stack: null });
    const { by, rank } = stack;
    const query = { layer: this.view.areaSeries, by, rank, top: HUE_COUNT, ...this.scope() };
    const found = await this.page.request('stackedTimeline', query);
    if (!found || this.page.now()?.view.stack !== stack) return;
    // Lines have one colour in all views, also those that a narrow chart leaves out.
    nameLines(found.hues);
    const drawn = this.view.pixels < WIDE_PX ? NARROW_GROUPS : HUE_COUNT;
    this.view.take({ stack: { ...found, groups: found.groups.slice(0, drawn) } });
  }
}

const whole = ({ fromNs, toNs }: TimeWindow): TimeWindow => ({ fromNs: Math.floor(fromNs), toNs: Math.ceil(toNs) });
