// The timeline as a picture: what the canvas shows, with its keys and what lies over it as elements.
import { t } from '@vscode/l10n';
import type { Picture } from '../../../extension/protocol/requests/pictureRequests';
import type { DrawnSeries } from './chart';
import type { PictureKey } from '../common/keyRows';
import { canvasPicture } from '../common/picture';
import { readPalette, type Palette } from '../common/theme';
import { GAP_WORDS, type Gap, type PlacedMark } from './marks';
import type { Overlaid } from './overlay';
import { patternOf } from './patterns';
import type { Span } from './span';
import { REST, type GroupName } from './stack';
import { SERIES_NAMES } from './tools';

interface TimelineScene extends Overlaid {
  canvas: HTMLCanvasElement;
  /** From the bottom; empty where there is one area. */
  groups: readonly GroupName[];
  /** Colours of the groups. */
  slots: readonly number[];
  series: readonly DrawnSeries[];
  facts: readonly string[];
}

const HATCH_PX = 6;
const LABEL_PX = 14;

/** null: nothing is shown. */
export function timelinePicture(scene: TimelineScene): Picture | null {
  const words = { title: t('GPU memory over time'), facts: scene.facts, keys: keysOf(scene) };
  return canvasPicture('timeline', scene.canvas, words, context => drawOver(context, scene));
}

function keysOf({ groups, slots, series }: TimelineScene): PictureKey[] {
  const palette = readPalette();
  const stacked = groups.map(({ name, more }, i) => {
    const slot = slots[i]!;
    const colour = palette.groups[slot]!;
    const fill = palette.contrast ? patternOf(slot, colour) : `color-mix(in srgb, ${colour} 60%, transparent)`;
    return { words: more === '' ? name : `${name} ${more}`, fill, line: false };
  });
  const rest = groups.length > 0 ? [{ words: REST.name, fill: palette.rest, line: false }] : [];
  return [...stacked, ...rest, ...series.map(one => ({ words: SERIES_NAMES[one], fill: palette[one], line: true }))];
}

function drawOver(context: CanvasRenderingContext2D, { plot, window, gaps, span, marks }: TimelineScene): void {
  const colours = readPalette();
  const [width, height] = [plot.right - plot.left, plot.bottom - plot.top];
  const scale = width / Math.max(window.toNs - window.fromNs, 1);
  const place = ({ fromNs, toNs }: Span): [x: number, width: number] => {
    const x = (fromNs - window.fromNs) * scale;
    return [x, Math.max(2, (toNs - fromNs) * scale)];
  };
  context.save();
  context.translate(plot.left, plot.top);
  clip(context, 0, width, height);
  context.font = `10px ${colours.font}`;
  for (const gap of gaps) drawGap(context, gap, ...place(gap), height, colours.text);
  if (span) {
    context.strokeStyle = colours.text;
    const [x, wide] = place(span);
    context.strokeRect(x, 0.5, wide, height - 1);
  }
  for (const mark of marks) drawMark(context, mark, height, colours);
  context.restore();
}

function clip(context: CanvasRenderingContext2D, x: number, width: number, height: number): void {
  context.beginPath();
  context.rect(x, 0, width, height);
  context.clip();
}

function drawGap(
  context: CanvasRenderingContext2D,
  { kind }: Gap,
  x: number,
  width: number,
  height: number,
  colour: string,
): void {
  context.save();
  clip(context, x, width, height);
  context.strokeStyle = context.fillStyle = colour;
  context.globalAlpha = 0.4;
  context.strokeRect(x, -1, width, height + 2);
  context.beginPath();
  for (let from = x - height; from < x + width; from += HATCH_PX) {
    context.moveTo(from, height);
    context.lineTo(from + height, 0);
  }
  context.stroke();
  context.globalAlpha = 1;
  const { label } = GAP_WORDS[kind];
  if (context.measureText(label).width + 8 <= width) context.fillText(label, x + 4, height - 6);
  context.restore();
}

function drawMark(
  context: CanvasRenderingContext2D,
  { mark, x, labelled, left, lower }: PlacedMark,
  height: number,
  { text, dim, background }: Palette,
): void {
  context.strokeStyle = mark.kind === 'out-of-memory' ? text : dim;
  context.setLineDash(mark.kind === 'out-of-memory' || mark.kind === 'named' ? [] : [3, 3]);
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, height);
  context.stroke();
  context.setLineDash([]);
  if (!labelled) return;
  const width = context.measureText(mark.label).width + 6;
  const [from, top] = [left ? x - width - 2 : x + 2, lower ? LABEL_PX + 2 : 0];
  context.fillStyle = background;
  context.fillRect(from, top, width, LABEL_PX);
  context.fillStyle = text;
  context.fillText(mark.label, from + 3, top + 10.5);
}
