import { onThemeChange } from './theme';

const known = new Map<string, number>();
let pen: CanvasRenderingContext2D | null | undefined;

/** Width of a text in the font of the page, pixels. */
export function textPx(text: string): number {
  const found = known.get(text);
  if (found !== undefined) return found;
  if (pen === undefined) {
    pen = document.createElement('canvas').getContext('2d');
    onThemeChange(() => known.clear());
  }
  if (pen) pen.font = getComputedStyle(document.body).font;
  const width = pen?.measureText(text).width ?? 0;
  known.set(text, width);
  return width;
}
