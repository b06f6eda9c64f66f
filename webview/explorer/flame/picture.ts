// The flame graph as an SVG document that needs nothing beside it.
import { rowsOf, type FlameRect } from './layout';
import { escapeXml } from '../../../extension/protocol/xml';
import type { FlameTheme } from './theme';

export interface FlameWords {
  title: string;
  /** Below the title: of what, when, how much. */
  facts: string;
  /** What stands in a rectangle. */
  short(rect: FlameRect): string;
  /** What a viewer shows of a rectangle that is pointed at. */
  long(rect: FlameRect): string;
}

const ROW_PX = 20;
const TOP_PX = 56;
const PAD_PX = 12;
const CHARACTER_PX = 6.4;

/** @param rects of `flameLayout`; all of them are drawn @param width pixels of the whole picture */
export function flameSvg(rects: readonly FlameRect[], width: number, words: FlameWords, theme: FlameTheme): string {
  const height = TOP_PX + rowsOf(rects) * ROW_PX + PAD_PX;
  const full = width - 2 * PAD_PX;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="11">`,
    `<title>${escapeXml(words.title)}</title>`,
    `<rect width="${width}" height="${height}" fill="${theme.background}"/>`,
    `<text x="${PAD_PX}" y="24" font-size="15" font-weight="600" fill="${theme.text}">${escapeXml(words.title)}</text>`,
    `<text x="${PAD_PX}" y="42" fill="${theme.dim}">${escapeXml(words.facts)}</text>`,
    ...rects.map(rect => rectangle(rect, full, words, theme)),
    '</svg>\n',
  ].join('\n');
}

function rectangle(rect: FlameRect, full: number, words: FlameWords, theme: FlameTheme): string {
  const x = (PAD_PX + rect.x * full).toFixed(2);
  const y = TOP_PX + rect.row * ROW_PX;
  const width = Math.max(rect.width * full - 1, 1);
  const stroke = theme.border === '' ? '' : ` stroke="${theme.border}"`;
  const box = `<rect x="${x}" y="${y}" width="${width.toFixed(2)}" height="${ROW_PX - 1}" fill="${theme.fill(rect)}"${stroke}/>`;
  const text = cut(words.short(rect), Math.floor((width - 6) / CHARACTER_PX));
  const label =
    text === '' ? '' : `<text x="${Number(x) + 3}" y="${y + 13}" fill="${theme.text}">${escapeXml(text)}</text>`;
  return `<g><title>${escapeXml(words.long(rect))}</title>${box}${label}</g>`;
}

/** With less than three characters nothing is read. */
function cut(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  return most < 3 ? '' : `${characters.slice(0, most - 1).join('')}…`;
}
