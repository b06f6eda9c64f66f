// The editor's colours for what is drawn on a canvas, and word when they change.

export type Palette = ReturnType<typeof readPalette>;

/** Reads the page's own names for the editor's colours (explorer.css maps them to --vscode-*). */
export function readPalette() {
  return {
    text: themeValue('--gm-text'),
    dim: themeValue('--gm-dim'),
    grid: themeValue('--gm-grid'),
    tensor: themeValue('--gm-tensor'),
    reserved: themeValue('--gm-reserved'),
    driver: themeValue('--gm-driver'),
    // Of the groups of the stacked timeline, by their slots.
    groups: [1, 2, 3, 4, 5, 6].map(number => themeValue(`--vscode-gpuMemoryTrace-line${number}`)),
    rest: themeValue('--gm-rest'),
    // Of the bands below the timeline; other: ranges.
    passes: {
      forward: band('--vscode-charts-blue'),
      evaluation: band('--vscode-charts-purple'),
      backward: band('--gm-orange'),
      optimizer: band('--vscode-charts-green'),
      other: band('--vscode-descriptionForeground'),
    },
    between: themeValue('--vscode-contrastBorder') || themeValue('--vscode-editor-background'),
    // Colors alone do not distinguish things.
    contrast: /vscode-high-contrast/.test(document.body.className) || matchMedia('(prefers-contrast: more)').matches,
    font: getComputedStyle(document.body).fontFamily,
  };
}

const band = (name: string): string =>
  `color-mix(in srgb, ${themeValue(name)} 45%, ${themeValue('--vscode-editor-background')})`;

/** What a variable of the styles is at this moment. */
export function themeValue(name: string): string {
  return getComputedStyle(document.body).getPropertyValue(name).trim();
}

/** Calls back when the editor's theme changes. */
export function onThemeChange(run: () => void): void {
  const observer = new MutationObserver(run);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
}
