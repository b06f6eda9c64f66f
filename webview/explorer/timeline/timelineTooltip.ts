// The line under the mouse, and the texts of the chart there.
import { formatBytes } from '../../../extension/text/format';
import type { StackedTimeline } from '../../../extension/protocol/requests/timelineRequests';
import { el, setHidden } from '../../dom';
import { oneLineName } from '../common/named';
import type { DrawnSeries } from './chart';
import { groupAt, groupBytesText, isOver, REST, withoutFile } from './timelineStack';

export interface TooltipText {
  title: string;
  lines: { part: DrawnSeries; name: string; bytes: number }[];
  stack: StackedTimeline | null;
  names: { name: string }[];
  /** Colours of the groups. */
  slots: readonly number[];
  timeNs: number;
  /** What the groups and the rest are together. */
  totalBytes: number;
  /** Each line that may be part of it is named. */
  isPeak: boolean;
}

const GAP_PX = 10;
/** In a narrower timeline, names are short. */
const WIDE_PX = 560;

export class TimelineTooltip {
  /** Lies over the chart. */
  readonly cursor = el('div', { class: 'timeline-cursor', 'aria-hidden': 'true', hidden: true });
  /** Lies over the half of the plot without the pointer. What is read above the figures of the trace or below the plot stays in sight. */
  readonly box = el('div', { class: 'timeline-tooltip', role: 'tooltip', hidden: true });

  hide(): void {
    for (const element of [this.cursor, this.box]) setHidden(element, true);
  }

  /** At `x` pixels of the surface, on the side with more room; of more groups than fit, the last are in the rest. */
  show(x: number, text: TooltipText): void {
    const { box } = this;
    for (const element of [this.cursor, box]) setHidden(element, false);
    this.cursor.style.transform = `translateX(${x}px)`;
    const surface = this.cursor.offsetParent?.getBoundingClientRect();
    if (!surface) return;
    const onRight = x < surface.width / 2;
    const sidePx = (onRight ? surface.width - x : x) - GAP_PX;
    box.style.maxWidth = `${sidePx}px`;
    const short = surface.width < WIDE_PX;
    this.draw(text, short, text.names.length);
    const highest = box.closest('.trace')?.getBoundingClientRect().top ?? 0;
    const overPx = box.offsetHeight - (surface.bottom - Math.max(0, highest));
    const linePx = box.offsetHeight / box.childElementCount;
    if (overPx > 0) this.draw(text, short, Math.max(0, text.names.length - Math.ceil(overPx / linePx)));
    const left = onRight ? x + GAP_PX : x - GAP_PX - box.offsetWidth;
    box.style.transform = `translate(${left}px, ${surface.height - box.offsetHeight}px)`;
  }

  private draw(
    { title, lines, stack, slots, timeNs, totalBytes, isPeak, ...all }: TooltipText,
    short: boolean,
    most: number,
  ): void {
    const names = stack && isOver(stack, timeNs, totalBytes) ? [] : all.names.slice(0, most);
    const series = lines.map(({ part, name, bytes }) =>
      line(el('i', { 'data-part': part, class: 'line' }), name, formatBytes(bytes)),
    );
    const shown = short ? withoutFile(names) : names.map(({ name }) => name);
    const amounts = stack ? names.map((_, group) => groupAt(stack, group, timeNs)) : [];
    const restBytes = Math.max(0, totalBytes - amounts.reduce((sum, { held }) => sum + held, 0));
    const parts = names.map((_, group) =>
      amounts[group] ? groupBytesText(amounts[group], restBytes, short, isPeak) : '',
    );
    const groups = names.flatMap((_, group) => {
      const bytes = parts[group] ?? null;
      return bytes === null ? [] : [line(el('i', { 'data-group': slots[group]! }), shown[group]!, bytes)];
    });
    // What the groups have of it is not known.
    const isOpen = parts.some(bytes => /[–≥≤]/.test(bytes ?? ''));
    const rest = `${isOpen ? '≤' : ''}${formatBytes(restBytes)}`;
    if (names.length > 0 && restBytes > 0) groups.push(line(el('i', { 'data-group': 'rest' }), REST.name, rest));
    this.box.replaceChildren(el('div', { class: 'dim' }, title), ...series, ...groups.reverse());
  }
}

function line(swatch: HTMLElement, name: string, bytes: string): HTMLElement {
  return el('div', {}, swatch, oneLineName(name), el('b', { class: 'number' }, bytes));
}
