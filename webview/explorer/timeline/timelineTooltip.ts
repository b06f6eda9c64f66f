// The line under the mouse, and the texts of the chart there.
import { t } from '@vscode/l10n';
import { formatBytes } from '../../../extension/text/format';
import type { StackedTimeline } from '../../../extension/protocol/requests/timelineRequests';
import { el, setHidden } from '../../dom';
import { oneLineName } from '../common/named';
import type { DrawnSeries } from './chart';
import { groupAt, groupBytesText, REST } from './timelineStack';

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

export class TimelineTooltip {
  /** Lies over the chart. */
  readonly cursor = el('div', { class: 'timeline-cursor', 'aria-hidden': 'true', hidden: true });
  /** Lies below it, so that it covers nothing of it. */
  readonly box = el('div', { class: 'timeline-tooltip', role: 'tooltip', hidden: true });

  hide(): void {
    for (const element of [this.cursor, this.box]) setHidden(element, true);
  }

  /** At `x` pixels of the surface, on the side with more room. */
  show(x: number, plot: { left: number; right: number }, text: TooltipText): void {
    const { title, lines, stack, names, slots, timeNs, totalBytes } = text;
    for (const element of [this.cursor, this.box]) setHidden(element, false);
    const series = lines.map(({ part, name, bytes }) =>
      line(el('i', { 'data-part': part, class: 'line' }), name, formatBytes(bytes)),
    );
    const amounts = stack ? names.map((_, group) => groupAt(stack, group, timeNs)) : [];
    const restBytes = Math.max(0, totalBytes - amounts.reduce((sum, { held }) => sum + held, 0));
    const parts = names.map((_, group) => (amounts[group] ? groupBytesText(amounts[group], restBytes) : ''));
    const groups = names.flatMap(({ name }, group) => {
      const bytes = parts[group] ?? null;
      return bytes === null ? [] : [line(el('i', { 'data-group': slots[group]! }), name, bytes)];
    });
    // What the groups have of it is not known.
    const isOpen = parts.some(bytes => bytes?.includes('–'));
    const rest = isOpen ? t('{0} or less', formatBytes(restBytes)) : formatBytes(restBytes);
    if (names.length > 0 && restBytes > 0) groups.push(line(el('i', { 'data-group': 'rest' }), REST.name, rest));
    this.box.replaceChildren(el('div', { class: 'dim' }, title), ...series, ...groups.reverse());
    this.cursor.style.transform = `translateX(${x}px)`;
    const width = this.box.offsetWidth;
    const onRight = x < (plot.left + plot.right) / 2;
    const left = onRight ? Math.min(x + GAP_PX, plot.right - width) : x - GAP_PX - width;
    this.box.style.transform = `translateX(${Math.max(0, left)}px)`;
  }
}

function line(swatch: HTMLElement, name: string, bytes: string): HTMLElement {
  return el('div', {}, swatch, oneLineName(name), el('b', { class: 'number' }, bytes));
}
