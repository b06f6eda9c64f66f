// The groups of the stacked timeline as points to draw, and as words.
import { t } from '@vscode/l10n';
import { baseName, formatBytes } from '../../../extension/text/format';
import type { StackBy, StackedTimeline, StackGroup } from '../../../extension/protocol/requests/timelineRequests';
import type { ProcessInfo } from '../../../extension/protocol/trace';
import { splitName } from '../common/named';
import { threadText } from '../common/threadNames';
import { WORDS } from '../common/vocabularyWords';
import type { Point } from './timelinePoints';
import type { TimeWindow } from '../state/zoom';

/**
 * Upper edges of the groups from the bottom up, two points an interval; intervals narrower than a pixel become one that has
 * the least of them.
 * @param ceiling most that all groups together may reach in an interval that is not over (bytes)
 */
export function stackEdges(
  stack: StackedTimeline,
  window: TimeWindow,
  pixels: number,
  ceiling: (interval: number) => number,
): Point[][] {
  const spans = drawnSpans(stack, window, pixels);
  const width = stack.toNs.length;
  const sums = new Float64Array(spans.length);
  const limits = spans.map(({ first, last }) => {
    let limit = Infinity;
    for (let at = Math.max(first, width - stack.unfinished); at <= last; at++) limit = Math.min(limit, ceiling(at));
    return limit;
  });
  return stack.groups.map((_, group) => {
    const edge: Point[] = [];
    spans.forEach(({ first, last, fromNs, toNs }, i) => {
      let held = Infinity;
      for (let at = first; at <= last; at++) held = Math.min(held, stack.heldBytes[group * width + at]!);
      sums[i]! += held;
      const y = Math.min(sums[i]!, limits[i]!);
      edge.push({ x: fromNs, y }, { x: toNs, y });
    });
    return edge;
  });
}

interface Span {
  /** Intervals of the stack, both included. */
  first: number;
  last: number;
  fromNs: number;
  toNs: number;
}

function drawnSpans({ toNs, fromNs: begin }: StackedTimeline, window: TimeWindow, pixels: number): Span[] {
  const pixelNs = (window.toNs - window.fromNs) / Math.max(pixels, 1);
  const spans: Span[] = [];
  for (let at = 0; at < toNs.length; at++) {
    const newest = at === toNs.length - 1;
    const from = Math.max(toNs[at - 1] ?? begin, window.fromNs);
    const to = newest ? window.toNs : Math.min(toNs[at]!, window.toNs); // it continues behind what was known
    if (to <= from) continue;
    const last = spans[spans.length - 1];
    if (last && last.toNs - last.fromNs < pixelNs) Object.assign(last, { last: at, toNs: to });
    else spans.push({ first: at, last: at, fromNs: from, toNs: to });
  }
  return spans;
}

/** Held bytes of a group at a time, and the most it had in that interval. */
export function groupAt(stack: StackedTimeline, group: number, timeNs: number): { held: number; most: number } {
  const width = stack.toNs.length;
  let at = 0;
  while (at < width - 1 && stack.toNs[at]! < timeNs) at++;
  return { held: stack.heldBytes[group * width + at] ?? 0, most: stack.mostBytes[group * width + at] ?? 0 };
}

/** The groups held more than there is: they were freed within the step, or with the program, and nobody knows in which order. */
export function isOver(stack: StackedTimeline, timeNs: number, totalBytes: number): boolean {
  return stack.groups.reduce((sum, _, group) => sum + groupAt(stack, group, timeNs).held, 0) > totalBytes;
}

/**
 * `2.62 GiB`, or `2.62–3 GiB` where a group may have more at this moment: as much as it had in a part of the interval, and no more than
 * `restBytes` beside what it held throughout. null: nothing is known but that it may be in the rest.
 * `short`: `≥2.62 GiB`, where there is little room.
 */
export function groupBytesText(
  { held, most }: { held: number; most: number },
  restBytes: number,
  short = false,
): string | null {
  if (held === 0 && most > 0 && restBytes > 0) return null;
  const [least, highest] = [held, Math.min(most, held + restBytes)].map(bytes => formatBytes(bytes)) as [
    string,
    string,
  ];
  if (least === highest || most <= held) return least;
  if (short) return held === 0 ? `≤${highest}` : `≥${least}`;
  const [figure = '', unit] = least.split(' ');
  return `${highest.endsWith(` ${unit}`) ? figure : least}–${highest}`;
}

export interface GroupName {
  name: string;
  /** For where there is room: the function of a line. */
  more: string;
  /** The whole of it. */
  title: string;
}

export const REST: GroupName = { name: t('rest'), more: '', title: t('Smaller groups and temporary memory') };

/** What a group is called. */
export function groupName(group: StackGroup, by: StackBy, processes: readonly ProcessInfo[]): GroupName {
  if (by === 'category') return same(WORDS.categories[group.category]);
  if (by === 'thread') return same(threadText(processes, group.process, group.thread));
  const lineName = (file: string): string => `${file}:${group.line}`;
  if (group.line > 0)
    return { name: lineName(baseName(group.file)), more: group.function, title: lineName(group.file) };
  return same(group.source === 'before-attach' ? t('pre-existing') : t('no Python line'));
}

/** What groups are called where there is little room: lines of one file by their numbers alone, as in the table. */
export function withoutFile(names: readonly { name: string }[]): string[] {
  const split = names.map(({ name }) => splitName(name));
  const isOne = new Set(split.flatMap(([file, at]) => (at === '' ? [] : [file]))).size === 1;
  return split.map(([file, at]) => (isOne && at !== '' ? at : `${file}${at}`));
}

const same = (name: string): GroupName => ({ name, more: '', title: name });
