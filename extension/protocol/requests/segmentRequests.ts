// Requests of the page about the layout of memory.
import { index, object, optional, type Checks } from './fieldChecks';
import { MOMENT, type OfMoment } from './moment';
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
  segments: object({ process: index, device: index, maxBlocks: optional(index), ...MOMENT }),
};
