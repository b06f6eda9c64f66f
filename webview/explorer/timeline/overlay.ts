// What lies over the chart: gaps, marks and the selected span, as elements that can be focused and read.
import { t } from '@vscode/l10n';
import { button, el, setAttributes, setHidden, setText } from '../../dom';
import { textFits, type Plot } from './bands';
import { chip } from './bar';
import { LABELS_PX } from './chart';
import { gapWords, labelRows, type Gap, type PlacedMark, type TimelineMark } from './timelineMarks';
import type { Span } from './span';
import type { TimeWindow } from '../state/zoom';

/** What lies over the plot. */
export interface Overlaid {
  plot: Plot;
  window: TimeWindow;
  gaps: readonly Gap[];
  marks: readonly PlacedMark[];
  span: Span | null;
  /** The shown moment; null: it is now. */
  momentNs: number | null;
  /** What PyTorch would reserve; `y`: pixels below the upper edge of the plot. null: nothing is forecast. */
  forecast: { y: number; label: string } | null;
  /** A part of the run is seen. */
  zoomed: boolean;
}

export class TimelineOverlay {
  readonly element = el('div', { class: 'timeline-overlay' });
  private readonly gaps: HTMLElement[] = [];
  private readonly marks: MarkView[] = [];
  private readonly span = el('div', { class: 'timeline-span', 'aria-hidden': 'true' });
  private readonly moment = el('div', { class: 'timeline-moment', 'aria-hidden': 'true' });

  private readonly forecastLabel = el('span', {});
  private readonly forecast = el('div', { class: 'timeline-forecast' }, this.forecastLabel);

  /** In the row of the labels, above what is drawn. */
  private readonly follow: HTMLElement;

  constructor(
    private readonly open: (mark: TimelineMark) => void,
    follow: () => void,
  ) {
    this.follow = chip('follow', t('Whole run'), t('Show the whole run and follow it (Escape)'), follow);
    this.follow.addEventListener('pointerdown', event => event.stopPropagation());
    this.element.append(this.span, this.moment, this.follow, this.forecast);
    this.element.addEventListener('keydown', event => this.walk(event));
  }

  /** Left and right, from a mark that has the focus, lead to its neighbours. */
  private walk(event: KeyboardEvent): void {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || event.shiftKey) return;
    const shown = this.marks.filter(({ element }) => !element.hidden).sort((a, b) => a.x - b.x);
    const at = shown.findIndex(({ element }) => element === event.target);
    if (at < 0) return;
    event.preventDefault();
    event.stopPropagation(); // the chart below would move
    shown[at + by]?.element.focus();
  }

  /** @param pixels width of the plot, which the overlay covers: places are pixels from its left edge */
  draw({ plot, window, gaps, marks, span, momentNs, forecast, zoomed }: Overlaid, pixels: number): void {
    this.place(plot, labelRows(marks) * LABELS_PX);
    this.drawGaps(gaps, window, pixels);
    setHidden(this.follow, !zoomed);
    marks.forEach((mark, i) => (this.marks[i] ??= this.addMark()).update(mark));
    this.marks.forEach((view, i) => setHidden(view.element, i >= marks.length));
    setHidden(this.span, span === null || span.toNs <= window.fromNs || span.fromNs >= window.toNs);
    if (span && !this.span.hidden) stretch(this.span, span, window, pixels);
    const isSeen = momentNs !== null && momentNs >= window.fromNs && momentNs <= window.toNs;
    setHidden(this.moment, !isSeen);
    setHidden(this.forecast, forecast === null);
    setText(this.forecastLabel, forecast?.label ?? '');
    if (forecast) this.forecast.style.top = `calc(var(--labels) + ${Math.round(forecast.y)}px)`;
    if (isSeen) stretch(this.moment, { fromNs: momentNs, toNs: momentNs }, window, pixels);
  }

  private place({ left, right, top, bottom }: Plot, labelsPx: number): void {
    const { style } = this.element;
    style.setProperty('--labels', `${labelsPx}px`);
    style.left = `${left}px`;
    style.top = `${top - labelsPx}px`;
    style.width = `${right - left}px`;
    style.height = `${bottom - top + labelsPx}px`;
  }

  /** One element each, made where one is missing; the label is seen where it fits. */
  private drawGaps(gaps: readonly Gap[], window: TimeWindow, pixels: number): void {
    const seen = gaps.filter(gap => gap.toNs > window.fromNs && gap.fromNs < window.toNs);
    seen.forEach((gap, i) => {
      const view = (this.gaps[i] ??= this.addGap());
      const { label, title } = gapWords(gap);
      setAttributes(view, { 'data-gap': gap.kind, title });
      setText(view, textFits(label, stretch(view, gap, window, pixels)) ? label : '');
    });
    this.gaps.forEach((view, i) => setHidden(view, i >= seen.length));
  }

  private addGap(): HTMLElement {
    const view = el('div', { class: 'timeline-gap' });
    this.element.prepend(view);
    return view;
  }

  private addMark(): MarkView {
    const view = new MarkView(this.open);
    this.element.append(view.element);
    return view;
  }
}

class MarkView {
  readonly element: HTMLButtonElement;
  private readonly label = el('span', {});
  private mark: TimelineMark | null = null;
  /** Pixels from the left edge of the plot. */
  x = 0;

  constructor(open: (mark: TimelineMark) => void) {
    this.element = button('timeline-mark', null, [this.label], () => this.mark && open(this.mark));
    // A press on a mark is none on the chart below it.
    this.element.addEventListener('pointerdown', event => event.stopPropagation());
  }

  update({ mark, x, labelled, left, lower }: PlacedMark): void {
    this.mark = mark;
    this.x = x;
    // What is seen comes first, so that voice control finds it by that.
    const description = t('{0}: {1}. Show live memory.', mark.label, mark.title);
    setAttributes(this.element, {
      'data-mark': mark.kind,
      'aria-label': description,
      title: description,
      // Collections may be many: they are listed in the chart's label, and reached from another mark by left and right.
      tabindex: mark.kind === 'collection' ? -1 : 0,
    });
    this.element.classList.toggle('left', left);
    this.element.classList.toggle('second-row', lower);
    this.element.classList.toggle('bare', !labelled);
    setText(this.label, labelled ? mark.label : '');
    this.element.style.transform = `translateX(${Math.round(x)}px)`;
  }
}

/** Lays an element over a span of time; its width in pixels comes back. */
function stretch(element: HTMLElement, span: Span, window: TimeWindow, pixels: number): number {
  const scale = pixels / Math.max(window.toNs - window.fromNs, 1);
  const from = Math.max(0, (span.fromNs - window.fromNs) * scale);
  const to = Math.min(pixels, (span.toNs - window.fromNs) * scale);
  const width = Math.max(2, to - from);
  element.style.transform = `translateX(${from.toFixed(1)}px)`;
  element.style.width = `${width.toFixed(1)}px`;
  return width;
}
