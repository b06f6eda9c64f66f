// Where each node of a flame graph lies: callers above what they call, widths by bytes.
import type { FlameNode } from './tree';

export interface FlameRect {
  node: FlameNode;
  /** Parts of the whole width, 0 to 1. */
  x: number;
  width: number;
  /** Row, from 0 at the top. */
  row: number;
  /** Above the zoomed node: as wide as everything. */
  above: boolean;
}

/**
 * The zoomed node takes the whole width, its callers too; nodes narrower than `least` (a part of the width) are left out.
 * Rows from the top, biggest first in each.
 */
export function flameLayout(zoomed: FlameNode, least: number): FlameRect[] {
  const rects: FlameRect[] = [];
  for (let up = zoomed.parent; up; up = up.parent) rects.push({ node: up, x: 0, width: 1, row: up.depth, above: true });
  rects.reverse();
  const whole = Math.max(zoomed.sumBytes, 1);
  const put = (node: FlameNode, x: number): void => {
    rects.push({ node, x, width: node === zoomed ? 1 : node.sumBytes / whole, row: node.depth, above: false });
    let at = x;
    for (const child of node.children) {
      const width = child.sumBytes / whole;
      if (width < least) break; // the rest is smaller still
      put(child, at);
      at += width;
    }
  };
  put(zoomed, 0);
  return rects;
}

/** Rows that a layout needs. */
export function rowsOf(rects: readonly FlameRect[]): number {
  return rects.reduce((rows, rect) => Math.max(rows, rect.row + 1), 0);
}

/** Where a key leads among what is shown; the same rectangle at an edge; undefined: it is no such key. */
export function moveIn(rects: readonly FlameRect[], from: FlameNode, key: string): FlameNode | undefined {
  const shown = new Set(rects.map(rect => rect.node));
  const siblings = from.parent?.children.filter(child => shown.has(child)) ?? [from];
  const at = siblings.indexOf(from);
  const moves: Record<string, FlameNode | null | undefined> = {
    Home: rects[0]?.node,
    End: rects.at(-1)?.node,
    ArrowUp: from.parent,
    ArrowDown: from.children.find(child => shown.has(child)),
    ArrowLeft: siblings[at - 1],
    ArrowRight: siblings[at + 1],
  };
  return key in moves ? (moves[key] ?? from) : undefined;
}
