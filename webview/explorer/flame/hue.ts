// The colour of a node: that of its line.
import type { FlameNode } from './tree';
import { hueOf, strengthOf } from '../common/hues';

/** Which colour and which shade of it the node's line has; null: the grey of libraries and of the whole. */
export function flameHue(node: FlameNode): { hue: number; shade: number } | null {
  if (!node.parent || node.library || node.line <= 0) return null;
  const found = hueOf(`${node.file}:${node.line}`);
  return { hue: found.hue, shade: strengthOf(found) };
}
