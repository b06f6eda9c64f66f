// What the page may ask of the layout of memory.
import { index, object, type Checks } from './checks';
import { momentField, type OfMoment } from './moment';
import type { SegmentMap, SegmentQuery } from '../trace';

export interface SegmentRequests {
  segments(query: SegmentQuery & OfMoment): SegmentPicture;
}

export interface SegmentPicture {
  map: SegmentMap;
  places: SegmentPlaces;
}
/** The lines of the sites in the map, one entry a site. line 0: no Python line. */
export interface SegmentPlaces {
  site: Uint32Array;
  file: string[];
  line: Uint32Array;
  function: string[];
}

export const segmentChecks: Checks<SegmentRequests> = {
  segments: params => {
    const from = object(params, 'segments');
    const query: SegmentQuery & OfMoment = {
      process: index(from, 'process'),
      device: index(from, 'device'),
      ...momentField(from),
    };
    if (from.maxBlocks !== undefined) query.maxBlocks = index(from, 'maxBlocks');
    return query;
  },
};
