// A canvas with a title, keys and the theme's background around another canvas, as PNG.
import type { SessionView } from '../../../extension/protocol/requests/messages';
import type { Picture } from '../../../extension/protocol/requests/pictureRequests';
import type { TraceInfo } from '../../../extension/protocol/trace';
import { iconButton } from '../../components';
import { t } from '@vscode/l10n';
import { KEY_ROW_PX, placeKeys, SWATCH_PX, type PictureKey } from './keyRows';
import { readPalette } from './theme';
import { formatCount } from '../../../extension/protocol/format';

export interface PictureWords {
  title: string;
  /** Lines below the title. */
  facts: readonly string[];
  keys: readonly PictureKey[];
}
/** What the picture is of. */
interface PictureSubject {
  session: Pick<SessionView, 'title' | 'simulated'>;
  info: Pick<TraceInfo, 'lost'>;
  view: { momentTitle: string };
}
const PAD_PX = 12;
const TITLE_PX = 34;
const FACT_PX = 16;

export function pictureButton(save: () => void): HTMLElement {
  return iconButton('save-picture', 'device-camera', t('Save as a picture'), save).element;
}

/** What every picture says below its title. */
export function pictureFacts({ session, info, view }: PictureSubject): string {
  const lost = info.lost.events > 0 ? [t('events lost: {0}', formatCount(info.lost.events))] : [];
  const simulated = session.simulated ? [t('simulated GPU')] : [];
  return [session.title, view.momentTitle, ...simulated, ...lost].filter(part => part !== '').join(' · ');
}

/**
 * A picture of what a canvas shows, as sharp as the canvas is. `over` draws what lies over it, in pixels of the page from
 * its top left corner. null: nothing is shown.
 */
export function canvasPicture(
  name: Picture['name'],
  source: HTMLCanvasElement,
  words: PictureWords,
  over: (context: CanvasRenderingContext2D) => void = () => undefined,
): Picture | null {
  const { clientWidth: width, clientHeight: height } = source;
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');
  if (!context || width === 0 || height === 0) return null;
  const ratio = source.width / width;
  const { text, dim, background, font } = readPalette();
  context.font = `11px ${font}`;
  const room = Math.max(width, 320);
  const { placed, rows } = placeKeys(words.keys, room, words => context.measureText(words).width);
  const head = TITLE_PX + words.facts.length * FACT_PX;
  const top = head + rows * KEY_ROW_PX + 8;
  canvas.width = Math.round((room + 2 * PAD_PX) * ratio);
  canvas.height = Math.round((top + height + PAD_PX) * ratio);
  context.scale(ratio, ratio);
  context.fillStyle = background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.translate(PAD_PX, 0);
  write(context, words.title, 22, text, `600 15px ${font}`, room);
  words.facts.forEach((line, i) => write(context, line, TITLE_PX + 7 + i * FACT_PX, dim, `11px ${font}`, room));
  for (const { key, x, y } of placed) drawKey(context, key, x, head + y, text);
  context.translate(0, top);
  context.drawImage(source, 0, 0, width, height);
  over(context);
  return { name, format: 'png', data: canvas.toDataURL('image/png').replace(/^[^,]*,/, '') };
}

function drawKey(context: CanvasRenderingContext2D, key: PictureKey, x: number, y: number, text: string): void {
  if (key.fill !== null) {
    context.fillStyle = key.fill;
    context.fillRect(x, y + (key.line ? 8 : 4), 11, key.line ? 2 : 10);
  }
  context.fillStyle = text;
  context.fillText(key.words, x + (key.fill === null ? 0 : SWATCH_PX), y + 13);
}

function write(
  context: CanvasRenderingContext2D,
  words: string,
  y: number,
  colour: string,
  font: string,
  room: number,
): void {
  context.font = font;
  context.fillStyle = colour;
  context.fillText(words, 0, y, room);
}

/** Colours painted over each other, the first lowest, each so opaque (0 to 1); as `#rrggbb`, which every reader knows. */
export function solidColour(...layers: readonly (readonly [colour: string, opacity: number])[]): string {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = canvas.getContext('2d');
  if (!context) return '#808080';
  for (const [colour, opacity] of layers) {
    context.globalAlpha = opacity;
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
  }
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return `#${[red, green, blue].map(part => part.toString(16).padStart(2, '0')).join('')}`;
}
