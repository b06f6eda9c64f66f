// One colour a line in every view: the six that the timeline stacks have one each, the others a lighter shade of one.
import { themeValue } from './theme';

/** Variables of the page, in an order in which neighbours differ; the groups of the timeline, by their slots. */
const HUES = [1, 2, 3, 4, 5, 6].map(number => `--gm-group-${number}`);
export const HUE_COUNT = HUES.length;

/** Shades of a colour: the first is that of the line which the timeline stacks. */
export const SHADE_PERCENT = [100, 65, 40] as const;
export const SHADE_COUNT = SHADE_PERCENT.length;

let stacked: ReadonlyMap<string, number> = new Map();
const listeners: (() => void)[] = [];

/** The timeline stacks these lines (`/home/me/train.py:12`) in these colours. */
export function nameLines(names: readonly string[], slots: readonly number[]): void {
  const entries = names.map((name, i) => [name, slots[i] ?? 0] as const);
  if (entries.length === stacked.size && entries.every(([name, slot]) => stacked.get(name) === slot)) return;
  stacked = new Map(entries);
  for (const run of listeners) run();
}

/** Calls back when lines have got other colours. */
export function onLinesNamed(run: () => void): void {
  listeners.push(run);
}

/** Which of the colours stands for a line: 0 to HUE_COUNT - 1. */
export function hueOf(name: string): number {
  return stacked.get(name) ?? hashOf(name) % HUE_COUNT;
}

/** Which of its shades: 0 to SHADE_COUNT - 1. */
export function shadeOf(name: string): number {
  return stacked.has(name) ? 0 : 1 + (Math.floor(hashOf(name) / HUE_COUNT) % (SHADE_COUNT - 1));
}

/** FNV-1a. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** A colour as styles name it; it follows the theme. */
export function hueStyle(hue: number): string {
  return `var(${HUES[hue]})`;
}

/** The theme's colours now, for a canvas. */
export function readHues(): string[] {
  const fallback = themeValue('--vscode-foreground');
  return HUES.map(hue => themeValue(hue) || fallback);
}
