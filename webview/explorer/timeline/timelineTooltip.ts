// The line under the mouse, and the texts of the chart there.
import { formatBytes } from '../../../extension/text/format';
import type { StackedTimeline } from '../../../extension/protocol/requests/timelineRequests';
import { el, setHidden } from '../../dom';
import { oneLineName } from '../common/named';
import type { DrawnSeries } from './chart';
import { groupAt, groupBytesText, REST, withoutFile } from './timelineStack';

type Plot = Record<'left' | 'right' | 'top' | 'bottom', number>;

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
}

const GAP_PX = 10;
/** From this width on, the box fits beside the pointer. */
const WIDE_PX = 500;

export class TimelineTooltip {
  /** Lies over the chart. */
  readonly cursor = el('div', { class: 'timeline-cursor', 'aria-hidden': 'true', hidden: true });
  /** Lies over the half of the plot without the pointer; above a narrow plot. What is read below it, as a finding, stays in sight. */
  readonly box = el('div', { class: 'timeline-tooltip', role: 'tooltip', hidden: true });

  hide(): void {
    for (const element of [this.cursor, this.box]) setHidden(element, true);
  }

  /** At `x` pixels of the surface, on the side with more room. */
  show(x: number, plot: Plot, text: TooltipText): void {
    const { title, lines, stack, names, slots, timeNs, totalBytes } = text;
    for (const element of [this.cursor, this.box]) setHidden(element, false);
    const short = isAbove(plot);
    const series = lines.map(({ part, name, bytes }) =>
      line(el('i', { 'data-part': part, class: 'line' }), name, formatBytes(bytes)),
    );
    const shown = short ? withoutFile(names) : names.map(({ name }) => name);
    const amounts = stack ? names.map((_, group) => groupAt(stack, group, timeNs)) : [];
    const restBytes = Math.max(0, totalBytes - amounts.reduce((sum, { held }) => sum + held, 0));
    const parts = names.map((_, group) => (amounts[group] ? groupBytesText(amounts[group], restBytes, short) : ''));
    const groups = names.flatMap((_, group) => {
      const bytes = parts[group] ?? null;
      return bytes === null ? [] : [line(el('i', { 'data-group': slots[group]! }), shown[group]!, bytes)];
    });
    // What the groups have of it is not known.
    const isOpen = parts.some(bytes => /[–≥≤]/.test(bytes ?? ''));
    const most = formatBytes(restBytes);
    const rest = isOpen ? `≤${most}` : most;
    if (names.length > 0 && restBytes > 0) groups.push(line(el('i', { 'data-group': 'rest' }), REST.name, rest));
    this.box.replaceChildren(el('div', { class: 'dim' }, title), ...series, ...groups.reverse());
    this.cursor.style.transform = `translateX(${x}px)`;
    this.place(x, plot);
  }

  private place(x: number, { left, right, top, bottom }: Plot): void {
    const { box } = this;
    const above = isAbove({ left, right });
    box.classList.toggle('above', above);
    const width = box.offsetWidth;
    const onRight = x < (left + right) / 2;
    const beside = onRight ? Math.min(x + GAP_PX, right - width) : x - GAP_PX - width;
    const highest = -(box.offsetParent?.getBoundingClientRect().top ?? 0);
    const upper = Math.max(highest, (above ? top : bottom) - box.offsetHeight);
    box.style.transform = `translate(${above ? 0 : Math.max(0, beside)}px, ${upper}px)`;
  }
}

const isAbove = ({ left, right }: Pick<Plot, 'left' | 'right'>): boolean => right - left < WIDE_PX;

function line(swatch: HTMLElement, name: string, bytes: string): HTMLElement {
  return el('div', {}, swatch, oneLineName(name), el('b', { class: 'number' }, bytes));
}
