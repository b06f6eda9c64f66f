// The framework's memory as a row of items a segment: blocks, and the gaps between them.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../extension/text/format';
import type { SegmentMap } from '../../../extension/protocol/trace';
import { blocksText } from '../common/counts';

export interface SegmentItem {
  kind: 'block' | 'gap';
  segment: number;
  /** From the segment's begin. */
  offset: number;
  bytes: number;
  /** Index into the map's blocks; -1: a gap, or a segment that is one block. */
  block: number;
}

export class SegmentItems {
  /** First block of each segment, and behind the last one their number. */
  private readonly first: Uint32Array;

  constructor(readonly map: SegmentMap) {
    const { blocks } = map;
    this.first = new Uint32Array(map.bytes.length + 1);
    for (let i = 0; i < blocks.rows; i++) this.first[blocks.segment[i]! + 1]!++;
    for (let i = 1; i < this.first.length; i++) this.first[i]! += this.first[i - 1]!;
  }

  get segments(): number {
    return this.map.bytes.length;
  }

  /** Which is the largest; the first of several. */
  get largest(): number {
    return this.map.bytes.reduce((best, bytes, i, all) => (bytes > all[best]! ? i : best), 0);
  }

  /** Its blocks [from, to). */
  blocksOf(segment: number): { from: number; to: number } {
    return { from: this.first[segment] ?? 0, to: this.first[segment + 1] ?? 0 };
  }

  /** Blocks and gaps of a segment in address order; together they are as long as it is. */
  itemsOf(segment: number): SegmentItem[] {
    const bytes = this.map.bytes[segment];
    if (bytes === undefined) return [];
    if (this.map.source === 'driver') return [{ kind: 'block', segment, offset: 0, bytes, block: -1 }];
    const items: SegmentItem[] = [];
    let end = 0;
    const gapUntil = (offset: number): void => {
      if (offset > end) items.push({ kind: 'gap', segment, offset: end, bytes: offset - end, block: -1 });
    };
    const { from, to } = this.blocksOf(segment);
    for (let block = from; block < to; block++) {
      const offset = this.map.blocks.offsetBytes[block]!;
      const size = this.map.blocks.bytes[block]!;
      gapUntil(offset);
      items.push({ kind: 'block', segment, offset, bytes: size, block });
      end = offset + size;
    }
    gapUntil(bytes);
    return items;
  }

  /** What lies at an offset; null outside the segment. */
  at(segment: number, offset: number): SegmentItem | null {
    return this.itemsOf(segment).find(item => offset >= item.offset && offset < item.offset + item.bytes) ?? null;
  }

  /** The longest gap of all; null where there is none. */
  largestGap(): SegmentItem | null {
    let most = -1;
    for (let i = 0; i < this.segments; i++)
      if (this.map.largestGapBytes[i]! > (this.map.largestGapBytes[most] ?? 0)) most = i;
    const gaps = this.itemsOf(most).filter(item => item.kind === 'gap');
    return gaps.reduce<SegmentItem | null>((best, gap) => (gap.bytes > (best?.bytes ?? 0) ? gap : best), null);
  }

  /** The same item in new data: a block with its address and time, a gap with its place; null: it is gone. */
  follow(item: SegmentItem, before: SegmentItems): SegmentItem | null {
    const address = before.map.address[item.segment]! + BigInt(item.offset);
    for (let segment = 0; segment < this.segments; segment++) {
      const begin = this.map.address[segment]!;
      if (address < begin || address >= begin + BigInt(this.map.bytes[segment]!)) continue;
      return this.at(segment, Number(address - begin));
    }
    return null;
  }
}

/** Where a key leads; the same item at an edge; undefined: it is no such key. `page`: segments of a page. */
export function moveItem(items: SegmentItems, from: SegmentItem, key: string, page: number): SegmentItem | undefined {
  const row = items.itemsOf(from.segment);
  const at = row.findIndex(item => item.offset === from.offset);
  const inRow = { Home: 0, End: row.length - 1, ArrowLeft: at - 1, ArrowRight: at + 1 }[key];
  if (inRow !== undefined) return row[inRow] ?? from;
  const by = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page }[key];
  if (by === undefined) return undefined;
  const segment = Math.max(0, Math.min(from.segment + by, items.segments - 1));
  const bytes = items.map.bytes[segment] ?? 0;
  const part = (from.offset + from.bytes / 2) / Math.max(items.map.bytes[from.segment] ?? 1, 1);
  return items.at(segment, Math.min(part * bytes, bytes - 1)) ?? from;
}

/** @param running more may come */
export function noSegmentText(running: boolean): string {
  return running
    ? t('No segments yet. They appear when the program reserves memory.')
    : t('No segments were recorded.');
}

/** How much of the segments is free, and how long the longest gap is; of a program that is `running` or not. */
export function fragmentationText(map: SegmentMap, running: boolean): string {
  const count = map.bytes.length;
  if (count === 0) return noSegmentText(running);
  const all = formatBytes(sum(map.bytes));
  if (map.source === 'driver')
    return count === 1
      ? t('No framework allocator was seen, only 1 driver allocation ({0}).', all)
      : t('No framework allocator was seen, only {0} driver allocations ({1}).', formatCount(count), all);
  let [partly, partlyBytes, empty, emptyBytes, gap] = [0, 0, 0, 0, 0];
  for (let i = 0; i < count; i++) {
    const free = map.bytes[i]! - map.liveBytes[i]!;
    gap = Math.max(gap, map.largestGapBytes[i]!);
    if (map.liveBytes[i] === 0) [empty, emptyBytes] = [empty + 1, emptyBytes + free];
    else if (free > 0) [partly, partlyBytes] = [partly + 1, partlyBytes + free];
  }
  const holds = count === 1 ? t('1 segment holds {0}', all) : t('{0} segments hold {1}', formatCount(count), all);
  if (partly + empty === 0) return t('{0}; none of it is free.', holds);
  const where = [partlyText(partly, formatBytes(partlyBytes)), emptyText(empty, formatBytes(emptyBytes))];
  const free = formatBytes(partlyBytes + emptyBytes);
  const parts = where.filter(Boolean).join(', ');
  return t('{0}; {1} of it is free: {2}. The largest gap is {3}.', holds, free, parts, formatBytes(gap));
}

function partlyText(count: number, bytes: string): string {
  if (count === 0) return '';
  if (count === 1) return t('{0} in 1 partly used segment', bytes);
  return t('{0} in {1} partly used segments', bytes, formatCount(count));
}

function emptyText(count: number, bytes: string): string {
  if (count === 0) return '';
  return count === 1 ? t('{0} in 1 empty segment', bytes) : t('{0} in {1} empty segments', bytes, formatCount(count));
}

/** What is not drawn; empty where all is. */
export function leftOutText(map: SegmentMap): string {
  const { blocks, segmentsLeftOut } = map;
  const { leftOut, outside } = blocks;
  const parts = [
    leftOut > 0 ? smallerBlocksText(leftOut, formatBytes(blocks.leftOutBytes)) : '',
    segmentsLeftOut > 0 ? smallerSegmentsText(segmentsLeftOut) : '',
  ].filter(Boolean);
  const drawn = parts.length > 0 ? `${t('Not drawn: {0}.', parts.join(', '))} ` : '';
  const what = `${blocksText(outside)} (${formatBytes(blocks.outsideBytes)})`;
  if (outside === 0) return drawn;
  if (map.bytes.length === 0) return t('{0} cannot be drawn without them.', what);
  return drawn + t('{0} in segments that were not recorded cannot be drawn.', what);
}

function smallerBlocksText(count: number, bytes: string): string {
  return count === 1 ? t('1 smaller block ({0})', bytes) : t('{0} smaller blocks ({1})', formatCount(count), bytes);
}

function smallerSegmentsText(count: number): string {
  return count === 1 ? t('1 smaller segment') : t('{0} smaller segments', formatCount(count));
}

function sum(values: Float64Array): number {
  return values.reduce((all, value) => all + value, 0);
}
