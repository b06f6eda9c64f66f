import type {
  AllocationQuery,
  AllocationWindow,
  Site,
  SiteQuery,
  SiteWindow,
  Timeline,
  TimelineQuery,
  TraceInfo,
} from '../protocol/trace';

/** What the analysis asks of a trace; the engine's session answers it. */
export interface TraceSource {
  info(): TraceInfo;
  sites(query: SiteQuery): SiteWindow;
  site(id: number): Site | null;
  allocations(query: AllocationQuery): AllocationWindow;
  timeline(query: TimelineQuery): Timeline;
}
