// Draws the segments in view: a bar each, its blocks in their colours, gaps left open.
import { BYTE_UNITS } from '../../../extension/text/format';
import { readHues } from '../common/hues';
import { readPalette, themeValue } from '../common/theme';
import { palette, type SegmentColours } from './colours';
import type { ColourBy } from '../state/state';
import type { SegmentItem, SegmentItems } from './items';

export type SegmentTheme = ReturnType<typeof readTheme>;
export function readTheme(by: ColourBy) {
  const { text, dim, grid: free, font } = readPalette();
  // The border is that of every block; empty: none.
  const [focus, border] = [themeValue('--vscode-focusBorder'), themeValue('--vscode-contrastBorder')];
  return { palette: palette(by, readHues(), dim), text, dim, free, focus, border, font: `11px ${font}` };
}
export interface SegmentScene {
  items: SegmentItems;
  colours: SegmentColours;
  theme: SegmentTheme;
  geometry: SegmentGeometry;
  scrollTop: number;
  height: number;
  active: SegmentItem | null;
  /** Only blocks of this line or pool are in full colour; empty: all are. */
  only: string;
}

export const ROW_PX = 22;
const BAR_PX = 16;
const LEAST_BAR_PX = 3;
const LABEL_PX = 88;
/** From this width there is room for labels. */
const WIDE_PX = 420;

/** Where bars lie: to one scale, or each as wide as the view. */
export class SegmentGeometry {
  readonly left: number;
  private readonly largest: number;

  constructor(
    private readonly items: SegmentItems,
    readonly width: number,
    private readonly toScale: boolean,
  ) {
    this.left = width >= WIDE_PX ? LABEL_PX : 0;
    this.largest = items.map.bytes.reduce((most, bytes) => Math.max(most, bytes), 1);
  }

  barPx(segment: number): number {
    const room = Math.max(this.width - this.left - 1, 1);
    if (!this.toScale) return room;
    return Math.max(LEAST_BAR_PX, ((this.items.map.bytes[segment] ?? 0) / this.largest) * room);
  }

  /** Left edge and width of bytes in a segment, pixels. */
  place(segment: number, offset: number, bytes: number): { x: number; width: number } {
    const scale = this.barPx(segment) / Math.max(this.items.map.bytes[segment] ?? 1, 1);
    return { x: this.left + offset * scale, width: bytes * scale };
  }

  /** What lies at a point (y from the top of all rows); null beside the bars. */
  itemAt(x: number, y: number): SegmentItem | null {
    const segment = Math.floor(y / ROW_PX);
    const bytes = this.items.map.bytes[segment];
    if (bytes === undefined || x < this.left || x >= this.left + this.barPx(segment)) return null;
    return this.items.at(segment, ((x - this.left) / this.barPx(segment)) * bytes);
  }
}

export function drawSegments(context: CanvasRenderingContext2D, scene: SegmentScene): void {
  const { items, geometry, scrollTop, height } = scene;
  context.clearRect(0, 0, geometry.width, height);
  const first = Math.max(0, Math.floor(scrollTop / ROW_PX));
  const last = Math.min(items.segments - 1, Math.ceil((scrollTop + height) / ROW_PX));
  for (let segment = first; segment <= last; segment++) drawRow(context, scene, segment);
  if (scene.active) drawActive(context, scene, scene.active);
}

function drawRow(context: CanvasRenderingContext2D, scene: SegmentScene, segment: number): void {
  const { items, geometry, theme, scrollTop, colours } = scene;
  const top = segment * ROW_PX - scrollTop + (ROW_PX - BAR_PX) / 2;
  const width = geometry.barPx(segment);
  if (geometry.left > 0) drawLabel(context, scene, segment, top);
  context.globalAlpha = 1;
  context.fillStyle = theme.free;
  context.fillRect(geometry.left, top, width, BAR_PX);
  if (colours.by === 'pool') {
    context.globalAlpha = isShown(scene, items.map.site[segment]!, segment) ? 0.35 : 0.1;
    context.fillStyle = theme.palette[colours.segment[segment]!] ?? theme.dim;
    context.fillRect(geometry.left, top, width, BAR_PX);
  }
  if (items.map.source === 'driver') {
    context.globalAlpha = isShown(scene, items.map.site[segment]!, segment) ? 1 : 0.2;
    context.fillStyle = theme.palette[colours.segment[segment]!] ?? theme.dim;
    context.fillRect(geometry.left, top, width, BAR_PX);
  } else drawBlocks(context, scene, segment, top);
  context.globalAlpha = 1;
  context.strokeStyle = theme.border || theme.dim;
  context.lineWidth = 1;
  context.strokeRect(geometry.left + 0.5, top + 0.5, Math.max(width - 1, 1), BAR_PX - 1);
}

function drawBlocks(context: CanvasRenderingContext2D, scene: SegmentScene, segment: number, top: number): void {
  const { items, geometry, theme, colours } = scene;
  const { blocks } = items.map;
  const { from, to } = items.blocksOf(segment);
  let drawnTo = -1;
  for (let block = from; block < to; block++) {
    const { x, width } = geometry.place(segment, blocks.offsetBytes[block]!, blocks.bytes[block]!);
    // Many blocks within one pixel look like the first of them.
    if (x + width < drawnTo) continue;
    const shown = Math.max(width > 3 ? width - 0.5 : width, 0.75);
    context.globalAlpha = isShown(scene, blocks.site[block]!, segment) ? 1 : 0.2;
    context.fillStyle = theme.palette[colours.block[block]!] ?? theme.dim;
    context.fillRect(x, top, shown, BAR_PX);
    if (theme.border !== '' && width > 4) {
      context.strokeStyle = theme.border;
      context.strokeRect(x + 0.5, top + 0.5, width - 1, BAR_PX - 1);
    }
    drawnTo = x + 0.75;
  }
}

function isShown({ only, colours }: SegmentScene, site: number, segment: number): boolean {
  return only === '' || colours.nameOf(site, segment) === only;
}

function drawLabel(context: CanvasRenderingContext2D, scene: SegmentScene, segment: number, top: number): void {
  const { items, theme, geometry } = scene;
  const bytes = items.map.bytes[segment]!;
  const used = Math.round(((items.map.liveBytes[segment] ?? 0) / Math.max(bytes, 1)) * 100);
  context.globalAlpha = 1;
  context.font = theme.font;
  context.fillStyle = theme.dim;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.fillText(`${shortBytes(bytes)} ${used}%`, geometry.left - 6, top + BAR_PX / 2 + 1);
}

/** Without decimals where a label has little room: `20 MiB`. */
function shortBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 999.5 && unit < BYTE_UNITS.length - 1; unit++) value /= 1024;
  return `${value < 9.95 && unit > 0 && value % 1 !== 0 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[unit]}`;
}

function drawActive(context: CanvasRenderingContext2D, scene: SegmentScene, item: SegmentItem): void {
  const { geometry, theme, scrollTop } = scene;
  const { x, width } = geometry.place(item.segment, item.offset, item.bytes);
  const top = item.segment * ROW_PX - scrollTop + (ROW_PX - BAR_PX) / 2;
  context.lineWidth = 2;
  context.strokeStyle = theme.focus;
  context.strokeRect(x - 1, top - 1, Math.max(width, 2) + 2, BAR_PX + 2);
  context.lineWidth = 1;
  context.strokeStyle = theme.text;
  context.strokeRect(x + 0.5, top + 0.5, Math.max(width - 1, 1), BAR_PX - 1);
}
