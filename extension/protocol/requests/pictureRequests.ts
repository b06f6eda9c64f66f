// What the page may ask for a picture of one of its views.
import { object, oneOf, Refused, text, type Checks } from './checks';

export const PICTURES = ['timeline', 'flame-graph', 'segments'] as const;
export type PictureName = (typeof PICTURES)[number];
export interface Picture {
  name: PictureName;
  format: 'svg' | 'png';
  /** The document of an SVG; the bytes of a PNG as base64. */
  data: string;
}

export interface PictureRequests {
  /** Answered once the user is being asked for a file: nobody knows how long that takes. */
  savePicture(picture: Picture): void;
}

/** Characters. */
export const MAX_PICTURE = 8 << 20;
/** The signature of a PNG in base64. */
const PNG_BEGIN = 'iVBORw0KGgo';

export const pictureChecks: Checks<PictureRequests> = {
  savePicture: params => {
    const from = object(params, 'savePicture');
    const format = oneOf(from, 'format', ['svg', 'png'] as const);
    const data = text(from, 'data', MAX_PICTURE);
    if (format === 'svg' && !data.startsWith('<svg ')) throw new Refused('data is an SVG document');
    if (format === 'png' && !(data.startsWith(PNG_BEGIN) && isBase64(data)))
      throw new Refused('data is a PNG as base64');
    return { name: oneOf(from, 'name', PICTURES), format, data };
  },
};

function isBase64(data: string): boolean {
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}
