// The span and the moment that are chosen on the timeline, by mouse, keys and buttons.
import { t } from '@vscode/l10n';
import { formatBytes } from '../../../extension/text/format';
import { nearest } from '../../../extension/protocol/requests/recorded';
import type { EndMoment, Moment } from '../../../extension/protocol/requests/moment';
import type { StepTimes } from '../../../extension/protocol/requests/timelineRequests';
import type { PageContext } from '../state/part';
import { visibleWindow, withTime, type Zoom } from '../state/zoom';
import type { MomentTarget, SpanChoice } from './bar';
import {
  aliveAt,
  aliveAtEnd,
  bornIn,
  firstSpan,
  moveAmong,
  moveMoment,
  nudge,
  peakPlace,
  spanText,
  toSteps,
  type KeyMove,
  type MomentMove,
  type Span,
  type TitledMoment,
} from './span';
import type { MomentReader } from './timelineMoment';

/** What the choice starts from; `steps`: those of the axis. */
interface TimelineState {
  context: PageContext | null;
  zoom: Zoom;
  steps: StepTimes | null;
  areaSeries: 'tensor' | 'driver';
}
interface ChosenTimeActions {
  /** Another span or moment is to be drawn. */
  changed(): void;
  /** Another span is selected: what is kept of it is to be requested. */
  spanned(): void;
  zoom(zoom: Zoom): void;
  /** For screen readers. */
  announce(text: string): void;
}

/** Of moments that keys lead to faster than this, the last one is read. */
const KEY_REST_MS = 120;

export class ChosenTime {
  private chosen: Span | null = null;
  /** The time (ns) that was chosen while it is being read. */
  private aimNs: number | null = null;

  constructor(
    private readonly moments: MomentReader,
    private readonly state: () => TimelineState,
    private readonly actions: ChosenTimeActions,
  ) {}

  get span(): Span | null {
    return this.chosen;
  }

  /** The moment that is shown or being read (ns); null: it is now, or a span. */
  get momentNs(): number | null {
    const moment = this.state().context?.view.moment;
    return this.aimNs ?? (moment?.kind === 'at' ? moment.timeNs : null);
  }

  /** Another moment is shown than before. */
  arrived(): void {
    this.aimNs = null;
  }

  forget(): void {
    this.chosen = this.aimNs = null;
  }

  clear(): void {
    this.chosen = null;
    this.actions.changed();
  }

  /** The span's button that stands for what is shown; null: none does. */
  get choice(): SpanChoice | null {
    const { context, steps } = this.state();
    const moment = context?.view.moment;
    if (!this.chosen || !moment) return null;
    const { fromNs, toNs } = this.chosen;
    if (moment.kind === 'born') return isSame(moment, this.bornIn(this.chosen).moment) ? 'born' : null;
    if (moment.kind !== 'at') return null;
    if (moment.peak) return moment.timeNs >= fromNs && moment.timeNs <= toNs ? 'peak' : null;
    return isSame(moment, aliveAtEnd(this.chosen, steps).moment) ? 'end' : null;
  }

  /** What the span's button that stands for what is shown does not say. `kept`: bytes that are still there; null: not known yet. */
  fact(kept: number | null): string {
    const { choice } = this;
    const { view, session } = this.state().context ?? {};
    if (choice === 'peak') return view?.momentTitle ?? '';
    if (choice !== 'born' || kept === null) return '';
    const isOfEnding = view?.moment.kind === 'born' && view.moment.atNs !== undefined;
    const bytes = formatBytes(kept);
    return isOfEnding ? t('{0} still live {1}', bytes, session?.ending?.when ?? '') : t('{0} still live', bytes);
  }

  /** Why the shown moment is shown by itself; '' where the user chose it. */
  get reason(): string {
    const { view, session } = this.state().context ?? {};
    const isEnding = view?.moment.kind === 'at' && view.moment.timeNs === session?.ending?.timeNs;
    return isEnding ? t('because {0}', session?.ending?.reason ?? '') : '';
  }

  /** Title of the shown moment. */
  get title(): string {
    const { view, session } = this.state().context ?? {};
    if (view?.momentTitle) return view.momentTitle;
    if ((session?.ending ?? null) !== null) return t('After the program ended');
    return session?.phase === 'ended' ? t('At the end') : t('Now');
  }

  /** Where `now` leads; null: it is shown. */
  get target(): MomentTarget | null {
    const { session } = this.state().context ?? {};
    const { leadsTo, isNow } = this;
    if (isNow && leadsTo === null) return null;
    if (leadsTo !== null) return { text: leadsTo.show, title: t('Show live memory {0}', leadsTo.when) };
    if ((session?.ending ?? null) !== null)
      return { text: t('After exit'), title: t('Show live memory after the program ended') };
    return session?.phase === 'ended'
      ? { text: t('Show the end'), title: t('Show live memory at the end') }
      : { text: t('Back to now'), title: t('Show live memory now') };
  }

  /** The moment that is shown instead of the end, unless it is shown; null: to the end, or to now. */
  private get leadsTo(): EndMoment | null {
    const ending = this.state().context?.session.ending ?? null;
    return this.momentNs === ending?.timeNs ? null : ending;
  }

  /** What was allocated in a span and stayed. */
  bornIn(span: Span): TitledMoment {
    const { context, steps } = this.state();
    return bornIn(span, steps, context?.session.ending ?? null);
  }

  /** Of a span that is given up nothing is shown. */
  drop(): void {
    if (this.choice === null) this.clear();
    else this.back();
  }

  /** `done`: it is no longer being drawn, and what it holds is shown; `byKey`: other spans may follow. */
  select(span: Span, done: boolean, byKey = false): void {
    const { context, steps } = this.state();
    if (this.recorded !== null) return done ? this.goTo(span.toNs) : undefined; // a span would be one more moment
    const whole = toSteps(span, steps, context?.runNs ?? 0);
    this.chosen = whole;
    this.actions.changed();
    if (!done) return;
    this.actions.spanned();
    this.actions.announce(t('Selected: {0}', spanText(whole, steps)));
    void this.moments.show(this.bornIn(whole), byKey ? KEY_REST_MS : 0);
  }

  nudge(move: KeyMove, whole: boolean): void {
    const { context, zoom, steps } = this.state();
    const window = visibleWindow(zoom, context?.runNs ?? 0);
    const { span } = this;
    this.select(span ? nudge(span, window, move, whole, steps) : firstSpan(window, this.momentNs, steps), true, true);
  }

  /** Shows the span in the way of one of its buttons. */
  show(choice: SpanChoice): void {
    const { steps } = this.state();
    if (!this.span) return;
    if (choice === 'peak') this.showPeak(this.span, peak => peakPlace(peak, steps), this.span.toNs);
    else void this.moments.show(choice === 'born' ? this.bornIn(this.span) : aliveAtEnd(this.span, steps));
  }

  /** `where` and `lastNs`: see MomentReader. */
  showPeak({ fromNs, toNs }: Span, where: (peak: Span) => string, lastNs?: number): void {
    const { context, areaSeries: series } = this.state();
    if (!context) return;
    this.leaveSpan({ fromNs, toNs });
    const { process, device } = context.view;
    void this.moments.showPeak({ series, fromNs, toNs, process, device }, where, lastNs);
  }

  /** What lies outside the selected span ends the selection. */
  leaveSpan({ fromNs, toNs }: Span): void {
    if (this.chosen && (toNs < this.chosen.fromNs || fromNs > this.chosen.toNs)) this.clear();
  }

  /** The only moments that can be shown; null: all can. */
  private get recorded(): readonly number[] | null {
    return this.state().context?.session.moments ?? null;
  }

  /** Shows a moment, or the nearest one that can be shown; `byKey`: it is the end of a step, and others may follow. */
  goTo(chosenNs: number, byKey = false): void {
    const { context, zoom, steps } = this.state();
    const timeNs = this.recorded?.[nearest(this.recorded, chosenNs)] ?? chosenNs;
    this.aimNs = timeNs;
    this.clear();
    this.actions.zoom(withTime(zoom, context?.runNs ?? 0, timeNs));
    void this.moments.show(aliveAt(timeNs, steps, byKey), byKey ? KEY_REST_MS : 0);
  }

  step(to: MomentMove): void {
    const { context, zoom, steps } = this.state();
    const runNs = context?.runNs ?? 0;
    const timeNs =
      this.recorded === null
        ? moveMoment(this.momentNs, visibleWindow(zoom, runNs), to, steps, runNs)
        : moveAmong(this.momentNs, this.recorded, to);
    if (timeNs === null) this.now();
    else this.goTo(timeNs, this.recorded === null);
  }

  /** To now; of a program that has ended, first to the moment that is shown instead of its end. */
  now(): void {
    const { leadsTo } = this;
    this.aimNs = null;
    if (leadsTo === null) this.moments.reset();
    else void this.moments.show({ moment: { kind: 'at', timeNs: leadsTo.timeNs }, title: leadsTo.title });
  }

  private get isNow(): boolean {
    return this.aimNs === null && this.state().context?.view.moment.kind === 'now';
  }

  /** To now, without a span. False: there is nowhere to go. */
  back(): boolean {
    const { isNow } = this;
    if (isNow && this.chosen === null) return false;
    this.clear();
    if (!isNow) this.now();
    return true;
  }
}

const isSame = (a: Moment, b: Moment): boolean => JSON.stringify(a) === JSON.stringify(b);
