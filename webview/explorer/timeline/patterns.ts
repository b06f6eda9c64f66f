import { remembered } from '../../../extension/base/maps';
// Fills that differ in form as well as in colour, for high contrast.

const SIZE_PX = 8;
/** For each group the strokes of its tile, as x0 y0 x1 y1; the styles of the legend (timeline.css) draw the same. */
const TILES: readonly (readonly [number, number, number, number][])[] = [
  [[0, 8, 8, 0]],
  [[0, 4, 8, 4]],
  [[0, 0, 8, 8]],
  [[4, 0, 4, 8]],
  [
    [0, 4, 8, 4],
    [4, 0, 4, 8],
  ],
  [[3, 4, 5, 4]],
];
const known = new Map<string, CanvasPattern | string>();

/** The pattern of a group in a colour; the colour itself where no canvas can be had. */
export function patternOf(group: number, colour: string): CanvasPattern | string {
  const tile = group % TILES.length;
  return remembered(known, `${tile} ${colour}`, () => draw(TILES[tile]!, colour) ?? colour);
}

function draw(strokes: (typeof TILES)[number], colour: string): CanvasPattern | null {
  const tile = document.createElement('canvas');
  tile.width = tile.height = SIZE_PX;
  const context = tile.getContext('2d');
  if (!context) return null;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.lineCap = 'square';
  for (const [x0, y0, x1, y1] of strokes) {
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
  }
  return context.createPattern(tile, 'repeat');
}
