// What the page may ask for a picture of one of its views.
import { object, oneOf, text, unless, type Checks, type Fielded } from './checks';

export type Picture = Fielded<typeof PICTURE>;

export interface PictureRequests {
  /** Answered once the user is being asked for a file: nobody knows how long that takes. */
  savePicture(picture: Picture): void;
}

/** Characters. */
export const MAX_PICTURE = 8 << 20;
/** The signature of a PNG in base64. */
const PNG_BEGIN = 'iVBORw0KGgo';
/** `data`: the document of an SVG; the bytes of a PNG as base64. */
const PICTURE = {
  name: oneOf('timeline', 'flame-graph', 'segments'),
  format: oneOf('svg', 'png'),
  data: text(MAX_PICTURE),
};

export const pictureChecks: Checks<PictureRequests> = {
  savePicture: unless(object(PICTURE), ({ format, data }) => {
    if (format === 'svg') return data.startsWith('<svg ') ? null : 'data is an SVG document';
    const isBase64 = data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
    return data.startsWith(PNG_BEGIN) && isBase64 ? null : 'data is a PNG as base64';
  }),
};
