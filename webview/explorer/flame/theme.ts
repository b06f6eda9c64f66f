// The colours of the flame graph as a picture has them: flame.css over the editor's background.
import type { FlameRect } from './layout';
import type { FlameNode } from './tree';
import { hueOf, readHues, strengthOf } from '../common/hues';
import { readPalette, themeValue } from '../common/theme';
import { solidColour } from '../common/picture';

const HUE_OPACITY = 0.4;
const GREY_OPACITY = 0.12;
const DIMMED = 0.45;

/** Which colour and which shade of it the node's line has; null: the grey of libraries and of the whole. */
export function flameHue(node: FlameNode): { hue: number; shade: number } | null {
  if (!node.parent || node.library || node.line <= 0) return null;
  const found = hueOf(`${node.file}:${node.line}`);
  return { hue: found.hue, shade: strengthOf(found) };
}

export type FlameTheme = ReturnType<typeof readFlameTheme>;
/** @param dimmed it is none of those that were looked for */
export function readFlameTheme(dimmed: (rect: FlameRect) => boolean) {
  const { text, dim, background } = readPalette();
  const hues = readHues();
  const border = themeValue('--vscode-contrastBorder');
  const paper = solidColour([background, 1]);
  const over = (colour: string, opacity: number): string => solidColour([paper, 1], [colour, opacity]);
  const known = new Map<string, string>();
  const fill = (rect: FlameRect): string => {
    const line = flameHue(rect.node);
    const opacity = (line === null ? GREY_OPACITY : HUE_OPACITY * line.shade) * (dimmed(rect) ? DIMMED : 1);
    const key = `${line?.hue} ${opacity}`;
    const colour = known.get(key) ?? over(line === null ? text : hues[line.hue]!, opacity);
    known.set(key, colour);
    return colour;
  };
  const drawn = document.body.className.includes('vscode-high-contrast') && border !== '';
  return {
    background: paper,
    /** Around each rectangle; empty: none. */
    border: drawn ? over(border, 1) : '',
    text: over(text, 1),
    dim: over(dim, 1),
    /** Of a rectangle: an opaque colour. */
    fill,
  };
}
