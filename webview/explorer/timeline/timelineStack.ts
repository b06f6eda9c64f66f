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
 * the least of them. In an interval that is not over they are nothing from where they stay over what is alive (`isOver`).
 * @param alive what is alive over time: points of a line
 */
export function stackEdges(
  stack: StackedTimeline,
  window: TimeWindow,
  pixels: number,
  alive: readonly Point[],
): Point[][] {
  const width = stack.toNs.length;
  const edges: Point[][] = stack.groups.map(() => []);
  for (const { first, last, fromNs, toNs } of drawnSpans(stack, window, pixels)) {
    let sum = 0;
    const sums = stack.groups.map((_, group) => {
      sum += stack.heldBytes.subarray(group * width + first, group * width + last + 1).reduce((a, b) => Math.min(a, b));
      return sum;
    });
    const open = last >= width - stack.unfinished;
    for (const part of open ? partsOf(alive, fromNs, toNs, sum) : [{ fromNs, toNs, most: sum }])
      edges.forEach((edge, group) => {
        const y = Math.min(sums[group]!, part.most);
        edge.push({ x: part.fromNs, y }, { x: part.toNs, y });
      });
  }
  return edges;
}

interface Part {
  fromNs: number;
  toNs: number;
  /** The most that is drawn (bytes). */
  most: number;
}

/**
 * Where less than so many bytes is alive for a while, not more is drawn; behind the last time with as much, nothing is: what was held
 * is known of the begin and the end alone.
 */
function partsOf(alive: readonly Point[], fromNs: number, toNs: number, bytes: number): Part[] {
  const last = alive.findLastIndex(({ x, y }, at) => x < toNs && Math.min(y, alive[at + 1]?.y ?? y) >= bytes);
  const overNs = Math.max(fromNs, Math.min(toNs, last < 0 ? fromNs : (alive[last + 1]?.x ?? Infinity)));
  const first = alive.findLastIndex(({ x }) => x <= fromNs);
  const parts: Part[] = [];
  for (let at = Math.max(first, 0); at <= last; at++) {
    const [{ x, y }, next] = [alive[at]!, alive[at + 1]];
    const most = Math.min(bytes, Math.max(y, next?.y ?? y));
    const part = { fromNs: parts.length === 0 ? fromNs : x, toNs: Math.min(next?.x ?? toNs, overNs), most };
    const before = parts.at(-1);
    if (before?.most === most) before.toNs = part.toNs;
    else parts.push(part);
  }
  return [...parts, { fromNs: overNs, toNs, most: 0 }].filter(part => part.fromNs < part.toNs);
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
 * `short`: `≥2.62 GiB`, where there is little room. `always`: `≤3 GiB` instead of null.
 */
export function groupBytesText(
  { held, most }: { held: number; most: number },
  restBytes: number,
  short = false,
  always = false,
): string | null {
  if (held === 0 && most > 0 && restBytes > 0 && !always) return null;
  const [least, highest] = [held, Math.min(most, held + restBytes)].map(bytes => formatBytes(bytes)) as [
    string,
    string,
  ];
  if (least === highest || most <= held) return least;
  if (short || held === 0) return held === 0 ? `≤${highest}` : `≥${least}`;
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

/** What is left, with so many groups that the chart has and a text does not: a name and, where there is little room, a number that is not cut. */
export function restName(left: number, short: boolean): [string, string] {
  if (left === 0) return [REST.name, ''];
  return short ? [REST.name, `\u00a0+${left}`] : [t('rest and {0} more', left), ''];
}

/** Groups, the last to be left out first: the one that grew most in the second half of the time, as a leak does; then the largest. */
export function mostTelling(stack: StackedTimeline, timeNs: number): number[] {
  const held = stack.groups.map((_, group) => groupAt(stack, group, timeNs).held);
  const grown = held.map((bytes, group) => bytes - groupAt(stack, group, timeNs / 2).held);
  const first = grown.indexOf(Math.max(...grown));
  return [...held.keys()].sort((a, b) => Number(b === first) - Number(a === first) || held[b]! - held[a]!);
}

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
