// The editor's colours for what is drawn on a canvas, and word when they change.

export interface Palette {
  text: string;
  dim: string;
  grid: string;
  tensor: string;
  reserved: string;
  driver: string;
  font: string;
}

/** Reads the page's own names for the editor's colours (explorer.css maps them to --vscode-*). */
export function readPalette(): Palette {
  const style = getComputedStyle(document.body);
  const value = (name: string): string => style.getPropertyValue(name).trim();
  return {
    text: value('--gm-text'),
    dim: value('--gm-dim'),
    grid: value('--gm-grid'),
    tensor: value('--gm-tensor'),
    reserved: value('--gm-reserved'),
    driver: value('--gm-driver'),
    font: style.fontFamily,
  };
}

/** Calls back when the editor's theme changes. */
export function onThemeChange(run: () => void): void {
  const observer = new MutationObserver(run);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
}
