// The line under the mouse, and the texts of the chart there.
import { formatBytes } from '../../../extension/text/format';
import type { StackedTimeline } from '../../../extension/protocol/requests/timelineRequests';
import { el, setAttribute, setHidden } from '../../dom';
import { oneLineName } from '../common/named';
import type { DrawnSeries } from './chart';
import { groupAt, groupBytesText, isOver, mostTelling, restName, withoutFile } from './timelineStack';

export interface TooltipText {
  title: string;
  /** The first is the one that the groups are parts of. */
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

  /** At `x` pixels of the surface, on the side with more room. */
  show(x: number, text: TooltipText): void {
    const { box } = this;
    for (const element of [this.cursor, box]) setHidden(element, false);
    this.cursor.style.transform = `translateX(${x}px)`;
    const surface = this.cursor.offsetParent?.getBoundingClientRect();
    if (!surface) return;
    const onRight = x < surface.width / 2;
    const sidePx = (onRight ? surface.width - x : x) - GAP_PX;
    box.style.maxWidth = `${sidePx}px`;
    const highest = box.closest('.trace')?.getBoundingClientRect().top ?? 0;
    this.fit(text, surface.width < WIDE_PX, surface.bottom - Math.max(0, highest));
    const left = onRight ? x + GAP_PX : x - GAP_PX - box.offsetWidth;
    box.style.transform = `translate(${left}px, ${surface.height - box.offsetHeight}px)`;
  }

  /** Where not all fits: two columns; then without the other series, with fewer groups, without the rest. */
  private fit(text: TooltipText, short: boolean, roomPx: number): void {
    const { box } = this;
    const isHigh = (): boolean => box.offsetHeight > roomPx;
    const order = text.stack ? mostTelling(text.stack, text.timeNs) : [];
    box.removeAttribute('data-columns');
    this.draw(text, short, order);
    if (isHigh() && !short) setAttribute(box, 'data-columns', '2');
    const first = { ...text, lines: text.lines.slice(0, 1) };
    if (isHigh()) this.draw(first, short, order);
    for (let most = order.length - 1; most > 0 && isHigh(); most--) this.draw(first, short, order.slice(0, most));
    if (isHigh()) box.querySelector('[data-group=rest]')?.parentElement?.remove();
  }

  /** @param shown of the groups */
  private draw(
    { title, lines, stack, slots, timeNs, totalBytes, isPeak, ...all }: TooltipText,
    short: boolean,
    shown: readonly number[],
  ): void {
    const names =
      stack && isOver(stack, timeNs, totalBytes)
        ? []
        : all.names.flatMap(({ name }, group) => (shown.includes(group) ? [{ name, group }] : []));
    const series = lines.map(({ part, name, bytes }) =>
      line(el('i', { 'data-part': part, class: 'line' }), name, formatBytes(bytes)),
    );
    const texts = short ? withoutFile(names) : names.map(({ name }) => name);
    const amounts = stack ? names.map(({ group }) => groupAt(stack, group, timeNs)) : [];
    const restBytes = Math.max(0, totalBytes - amounts.reduce((sum, { held }) => sum + held, 0));
    const parts = amounts.map(amount => groupBytesText(amount, restBytes, short, isPeak));
    const groups = names.flatMap(({ group }, at) => {
      const bytes = parts[at] ?? null;
      return bytes === null ? [] : [line(el('i', { 'data-group': slots[group]! }), texts[at]!, bytes)];
    });
    // What the groups have of it is not known.
    const isOpen = parts.some(bytes => /[–≥≤]/.test(bytes ?? ''));
    const rest = `${isOpen ? '≤' : ''}${formatBytes(restBytes)}`;
    const name = restName(all.names.length - names.length, short);
    if (names.length > 0 && restBytes > 0) groups.push(line(el('i', { 'data-group': 'rest' }), name, rest));
    this.box.replaceChildren(el('div', { class: 'dim' }, title), ...series, ...groups.reverse());
  }
}

function line(swatch: HTMLElement, name: string | [string, string], bytes: string): HTMLElement {
  return el('div', {}, swatch, oneLineName(name), el('b', { class: 'number' }, bytes));
}
