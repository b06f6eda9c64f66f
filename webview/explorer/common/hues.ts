// The theme's chart colours for many things: the same name has the same colour in every view and every run.
import { themeValue } from './theme';

/** Variables of the page, in an order in which neighbours differ. */
const HUES = [
  '--vscode-charts-blue',
  '--gm-orange',
  '--vscode-charts-green',
  '--vscode-charts-purple',
  '--vscode-charts-yellow',
  '--vscode-charts-red',
] as const;
export const HUE_COUNT = HUES.length;

/** Of each colour so many shades can be told apart. */
export const SHADE_COUNT = 3;

/** Which of the chart colours stands for a name: 0 to HUE_COUNT - 1. */
export function hueOf(name: string): number {
  return hashOf(name) % HUE_COUNT;
}

/** Which of its shades: 0 to SHADE_COUNT - 1. */
export function shadeOf(name: string): number {
  return Math.floor(hashOf(name) / HUE_COUNT) % SHADE_COUNT;
}

/** FNV-1a. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** A chart colour as styles name it; it follows the theme. */
export function hueStyle(hue: number): string {
  return `var(${HUES[hue]})`;
}

/** The theme's colours now, for a canvas. */
export function readHues(): string[] {
  const fallback = themeValue('--vscode-foreground');
  return HUES.map(hue => themeValue(hue) || fallback);
}
