const known = new Map<string, number>();
let pen: CanvasRenderingContext2D | null | undefined;

/** Width of a text in the font of the page, pixels. */
export function textPx(text: string): number {
  const found = known.get(text);
  if (found !== undefined) return found;
  pen ??= document.createElement('canvas').getContext('2d');
  if (pen) pen.font = getComputedStyle(document.body).font;
  const width = pen?.measureText(text).width ?? 0;
  known.set(text, width);
  return width;
}
