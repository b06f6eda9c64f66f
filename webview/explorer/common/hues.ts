// The colours of lines as the theme has them.
import type { ColouredStack } from '../../../extension/protocol/requests/timelineRequests';
import { HUE_COUNT, lineHue, type LineHue, SHADE_PERCENT } from '../../../extension/protocol/lineHue';
import { themeValue } from './theme';

/** Variables of the page, in an order in which neighbours differ; the groups of the timeline, by their slots. */
const HUES = Array.from({ length: HUE_COUNT }, (_, i) => `--vscode-gpuMemoryTrace-line${i + 1}`);

let stacked: ReadonlyMap<string, number> = new Map();
const listeners: (() => void)[] = [];

/** The timeline stacks these lines (`/home/me/train.py:12`) in these colours, or did. */
export function nameLines(hues: ColouredStack['hues']): void {
  if (hues.length === stacked.size && hues.every(([name, slot]) => stacked.get(name) === slot)) return;
  stacked = new Map(hues);
  for (const run of listeners) run();
}

/** Calls back when lines have got other colours. */
export function onLinesNamed(run: () => void): void {
  listeners.push(run);
}

/** The colour of a line. */
export function hueOf(name: string): LineHue {
  return lineHue(name, stacked);
}

/** As styles name it; it follows the theme. */
export function hueStyle(hue: number): string {
  return `var(${HUES[hue]})`;
}

/** How strong a shade is, from 0 to 1. */
export function strengthOf({ shade }: LineHue): number {
  return SHADE_PERCENT[shade]! / 100;
}

/** The theme's colours now, for a canvas. */
export function readHues(): string[] {
  const fallback = themeValue('--vscode-foreground');
  return HUES.map(hue => themeValue(hue) || fallback);
}
