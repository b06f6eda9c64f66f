// What is marked on the timeline, and where nothing is known: from the host's facts to places on the plot.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../extension/text/format';
import type { TimelineSteps } from '../../../extension/protocol/requests/timelineRequests';
import type { TraceInfo } from '../../../extension/protocol/trace';
import type { TimeWindow } from '../state/zoom';
import { deviceText } from '../common/threadNames';

export interface TimelineMark {
  kind: 'peak' | 'out-of-memory' | 'named' | 'collection';
  timeNs: number;
  /** Short, beside its line. */
  label: string;
  /** For a tooltip and a screen reader. */
  title: string;
}
/** A mark with its place, in pixels from the left edge of the plot. */
export interface PlacedMark {
  mark: TimelineMark;
  x: number;
  /** There is room for the label; `left`: on the line's left side. */
  labelled: boolean;
  left: boolean;
  /** In the second row of labels. */
  lower: boolean;
}
export interface Gap {
  kind: 'paused' | 'driver' | 'lost' | 'before-attach' | 'search';
  fromNs: number;
  toNs: number;
}

const GAP_WORDS: Record<Exclude<Gap['kind'], 'search'>, { label: string; title: string }> = {
  paused: { label: t('paused'), title: t('Recording was paused') },
  driver: { label: t('driver not recorded'), title: t('No driver allocations were recorded here') },
  lost: { label: t('dropped events'), title: t('Some events of these steps are missing') },
  'before-attach': { label: t('before attach'), title: t('The tracer was not attached yet') },
};

/** Short, in it; and for its tooltip. */
export function gapWords({ kind, fromNs, toNs }: Gap): { label: string; title: string } {
  if (kind !== 'search') return GAP_WORDS[kind];
  const title = t('GPU Memory Trace searched for holders, {0} ms', formatCount(Math.ceil((toNs - fromNs) / 1e6)));
  return { label: t('search'), title };
}

/** Most important first: where labels have no room, the later ones go without. */
const ORDER: readonly TimelineMark['kind'][] = ['out-of-memory', 'peak', 'named', 'collection'];
const CHARACTER_PX = 6.2;
const LABEL_PAD_PX = 10;
const SAME_PX = 12;
/** A mark at the very end keeps its line in the plot. */
const LINE_PX = 2;
const WHOLE_RUN_PX = 80;
const MOST = 200;
const SHORTEST_ATTACH_NS = 1e6;

/** Marks of the run; `peak` is that of the window, null without one; `inView`: the run may have a higher one. */
export function marksOf(
  info: TraceInfo,
  steps: TimelineSteps | null,
  named: readonly { name: string; timeNs: number }[],
  peak: { timeNs: number; bytes: number; when: string; inView: boolean } | null,
): TimelineMark[] {
  const marks: TimelineMark[] = info.outOfMemory.map(({ timeNs, requestedBytes, device, layer }) => ({
    kind: 'out-of-memory',
    timeNs,
    label: t('out of memory'),
    title: t('{0} requested from {1}', formatBytes(requestedBytes), deviceText(device, layer)),
  }));
  for (const { name, timeNs } of named) marks.push({ kind: 'named', timeNs, label: name, title: t('user marker') });
  for (const timeNs of steps?.collections ?? [])
    marks.push({
      kind: 'collection',
      timeNs,
      label: 'gc',
      title: t('Python ran a full garbage collection in this step'),
    });
  if (peak && peak.bytes > 0) {
    const [bytes, { timeNs, when, inView }] = [formatBytes(peak.bytes), peak];
    const label = inView ? t('peak in view {0}', bytes) : t('peak {0}', bytes);
    const title = inView ? t('{0}, the peak of the visible range', when) : t('{0}, the peak of the run', when);
    marks.push({ kind: 'peak', timeNs, label, title });
  }
  return marks;
}

/**
 * Those in the window, from left to right; of marks of a kind that would touch, the first stands for all. `zoomed`: the first row of labels
 * begins with the way back to the whole run.
 */
export function placeMarks(
  marks: readonly TimelineMark[],
  window: TimeWindow,
  pixels: number,
  zoomed = false,
): PlacedMark[] {
  const scale = pixels / Math.max(window.toNs - window.fromNs, 1);
  const inside = marks.filter(({ timeNs }) => timeNs >= window.fromNs && timeNs <= window.toNs);
  const placed: PlacedMark[] = [];
  const taken: Taken = zoomed ? [{ lower: false, from: 0, to: WHOLE_RUN_PX }] : [];
  for (const kind of ORDER) {
    let before: PlacedMark | null = null;
    let title = '';
    let touching = 1;
    for (const mark of inside.filter(one => one.kind === kind).sort((a, b) => a.timeNs - b.timeNs)) {
      const x = Math.min((mark.timeNs - window.fromNs) * scale, pixels - LINE_PX);
      if (before && x - before.x < SAME_PX) {
        touching++;
        const several = t('{0} (and {1} more next to it)', title, formatCount(touching - 1));
        before.mark = { ...before.mark, title: several };
        continue;
      }
      touching = 1;
      title = mark.title;
      before = { mark, x, ...room(mark, x, pixels, taken) };
      placed.push(before);
    }
  }
  return placed.sort((a, b) => a.x - b.x).slice(0, MOST);
}

type Taken = { lower: boolean; from: number; to: number }[];

function room({ label, kind }: TimelineMark, x: number, pixels: number, taken: Taken): Omit<PlacedMark, 'mark' | 'x'> {
  const width = label.length * CHARACTER_PX + LABEL_PAD_PX;
  // A second row makes the plot lower: no collection is worth that.
  const rows = kind === 'collection' ? [false] : [false, true];
  for (const lower of rows)
    for (const left of [false, true]) {
      const [from, to] = left ? [x - width, x] : [x, x + width];
      const free = taken.every(one => one.lower !== lower || from >= one.to || to <= one.from);
      if (from < 0 || to > pixels || !free) continue;
      taken.push({ lower, from, to });
      return { labelled: true, left, lower };
    }
  return { labelled: false, left: false, lower: false };
}

/** Rows of labels above the plot. */
export const labelRows = (marks: readonly PlacedMark[]): number => (marks.some(({ lower }) => lower) ? 2 : 1);

/** Where nothing, or not all, was recorded. */
export function gapsOf(info: TraceInfo, steps: TimelineSteps | null, runNs: number): Gap[] {
  const gaps: Gap[] = info.pauses.map(({ kind, beginNs, endNs }) => ({
    kind: kind === 'driver' ? 'driver' : 'paused',
    fromNs: beginNs,
    toNs: endNs ?? runNs,
  }));
  gaps.push(...gapsIn('lost', steps?.lost), ...searchesOf(steps));
  const attachNs = attachTime(info);
  if (attachNs > SHORTEST_ATTACH_NS) gaps.push({ kind: 'before-attach', fromNs: 0, toNs: attachNs });
  return gaps;
}

/** When the tracer searched for holders. */
export const searchesOf = (steps: TimelineSteps | null): Gap[] => gapsIn('search', steps?.searches);

const gapsIn = (kind: Gap['kind'], ends: ArrayLike<number> = []): Gap[] =>
  Array.from({ length: ends.length / 2 }, (_, i) => ({ kind, fromNs: ends[2 * i]!, toNs: ends[2 * i + 1]! }));

/** When the tracer came to a program that ran before (ns of the session); 0 where it was there from the begin. */
function attachTime({ session, startRealtimeMs }: TraceInfo): number {
  const attached = session.attached as { realtimeMs?: unknown } | undefined;
  return typeof attached?.realtimeMs === 'number' ? Math.max(0, (attached.realtimeMs - startRealtimeMs) * 1e6) : 0;
}
