// Which part of the run the timeline shows. Times are nanoseconds since the session began.

export interface Zoom {
  /** Length of the window; null = the whole run. */
  spanNs: number | null;
  /** End of the window; null = the present, followed while the program runs. */
  endNs: number | null;
}
export interface TimeWindow {
  fromNs: number;
  toNs: number;
}

export const FOLLOW: Zoom = { spanNs: null, endNs: null };
const SHORTEST_NS = 1_000;

/** The window of a zoom at a run's length so far; never empty. */
export function visibleWindow(zoom: Zoom, runNs: number): TimeWindow {
  const end = Math.max(runNs, SHORTEST_NS);
  const span = Math.min(zoom.spanNs ?? end, end);
  const toNs = Math.min(Math.max(zoom.endNs ?? end, span), end);
  return { fromNs: toNs - span, toNs };
}

/** Zooms by a factor (below 1: closer) around a place in the window, 0 = left edge, 1 = right edge. */
export function zoomAt(zoom: Zoom, runNs: number, factor: number, place: number): Zoom {
  const { fromNs, toNs } = visibleWindow(zoom, runNs);
  const span = Math.max((toNs - fromNs) * factor, SHORTEST_NS);
  const anchor = fromNs + (toNs - fromNs) * place;
  const sticks = zoom.endNs === null && (place >= 0.98 || factor > 1);
  return settle(span, sticks ? null : anchor + span * (1 - place), runNs);
}

/** Moves the window by a part of its length; right of the run's end it follows the present again. */
export function panBy(zoom: Zoom, runNs: number, part: number): Zoom {
  const { fromNs, toNs } = visibleWindow(zoom, runNs);
  const span = toNs - fromNs;
  return settle(span, Math.max(toNs + span * part, span), runNs);
}

/** The window with a time in sight: around it, where it was not. */
export function withTime(zoom: Zoom, runNs: number, timeNs: number): Zoom {
  const { fromNs, toNs } = visibleWindow(zoom, runNs);
  if (timeNs >= fromNs && timeNs <= toNs) return zoom;
  return settle(toNs - fromNs, timeNs + (toNs - fromNs) / 2, runNs);
}

function settle(spanNs: number, endNs: number | null, runNs: number): Zoom {
  if (spanNs >= runNs) return FOLLOW;
  return { spanNs, endNs: endNs === null || endNs >= runNs ? null : Math.max(endNs, spanNs) };
}
