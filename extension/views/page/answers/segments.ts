import type { SegmentPlaces, SegmentRequests } from '../../../protocol/requests/segmentRequests';
import type { SegmentMap, SegmentQuery, TraceSource } from '../../../protocol/trace';
import type { PageModel } from '../model';
import type { Answers } from './answers';
import { sourceOf } from './source';

const MOST_SITES = 100_000;

export function segmentAnswers(model: PageModel): Answers<SegmentRequests> {
  return {
    segments: async ({ moment, ...query }) => {
      const { source } = await sourceOf(model, moment);
      const map = source.segments(query);
      return { map, places: placesOf(source, query, map) };
    },
  };
}

/** All sites that hold something there, in one question. */
function placesOf(source: TraceSource, { process, device }: SegmentQuery, map: SegmentMap): SegmentPlaces {
  const layer = map.source === 'framework' ? 'tensor' : 'driver';
  const order = { groupBy: 'site', sort: 'liveBytes', descending: true, from: 0, to: MOST_SITES } as const;
  const { id, file, line, ...rows } = source.sites({ layer, process, device, ...order });
  return { site: id, file, line, function: rows.function };
}
