// What the page may ask for a picture of one of its views.
import { object, oneOf, text, unless, type Checks } from './checks';

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
  savePicture: unless(
    object({ name: oneOf(...PICTURES), format: oneOf('svg', 'png'), data: text(MAX_PICTURE) }),
    ({ format, data }) => {
      if (format === 'svg') return data.startsWith('<svg ') ? null : 'data is an SVG document';
      const isBase64 = data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
      return data.startsWith(PNG_BEGIN) && isBase64 ? null : 'data is a PNG as base64';
    },
  ),
};
