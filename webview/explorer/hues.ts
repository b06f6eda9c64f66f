// The theme's chart colours for many things: the same name has the same colour in every view and every run.

/** Names of --vscode-charts-*, in an order in which neighbours differ. */
const HUES = ['blue', 'orange', 'green', 'purple', 'yellow', 'red'] as const;
export const HUE_COUNT = HUES.length;

/** Which of the chart colours stands for a name: 0 to HUE_COUNT - 1. */
export function hueOf(name: string): number {
  let hash = 0x811c9dc5; // FNV-1a
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % HUE_COUNT;
}

/** The theme's colours now, for a canvas. */
export function readHues(): string[] {
  const style = getComputedStyle(document.body);
  const fallback = style.getPropertyValue('--vscode-foreground').trim();
  return HUES.map(hue => style.getPropertyValue(`--vscode-charts-${hue}`).trim() || fallback);
}
