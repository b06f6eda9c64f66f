// What the user chose on the page. It outlives a hidden view through the editor's own state store.
import { type CompareBy, pointOf } from '../../../extension/protocol/requests/compareRequests';
import { checkMoment, type Moment, NOW } from '../../../extension/protocol/requests/moment';
import { STACK_BY, STACK_RANKS } from '../../../extension/protocol/requests/timelineRequests';
import { TREE_WEIGHTS } from '../../../extension/protocol/requests/treeRequests';
import type { GroupBy, Series, SiteSort, TraceInfo } from '../../../extension/protocol/trace';
import { GROUP_BYS, LAYERS, SERIES, SITE_SORTS } from '../../../extension/protocol/trace';
import { restoreTable } from './tableState';
import { FOLLOW, type Zoom } from './zoom';

/** The tabs below the timeline. */
const TABS = ['lines', 'flame', 'segments', 'compare', 'fit'] as const;
export type TabId = (typeof TABS)[number];

/** What the timeline's areas are: groups by their bytes, or one area. */
export type StackChoice = ViewState['stack'];
const AXES = ['steps', 'time'] as const;
export type AxisUnit = (typeof AXES)[number];

export type ViewState = ReturnType<typeof readState>;

/** A field of the state that an action of its name sets. */
type Plain =
  | 'filter'
  | 'layer'
  | 'zoom'
  | 'process'
  | 'device'
  | 'tab'
  | 'stack'
  | 'axis'
  | 'ending'
  | 'forecastBytes'
  | 'tools'
  | 'timelinePx';
/** One whose parts are set. */
type Parted = 'table' | 'segments' | 'flame' | 'compare';

export type Action =
  | { [F in Plain]: { type: F } & Pick<ViewState, F> }[Plain]
  | { [F in Parted]: { type: F } & { [P in F]: Partial<ViewState[F]> } }[Parted]
  | { type: 'sort'; sort: SiteSort }
  | { type: 'group'; groupBy: GroupBy }
  | { type: 'series'; series: Series }
  | { type: 'moment'; moment: Moment; title: string; bytes?: number }
  /** Another trace is shown, or the first one. */
  | { type: 'trace'; trace: number };

/** No process or no device in particular. */
export const ALL = -1;

const COLOURS = ['line', 'age', 'pool'] as const;
export type ColourBy = (typeof COLOURS)[number];
export const GROUPS: readonly GroupBy[] = ['line', ...GROUP_BYS.filter(by => by !== 'line')];
const TEXT_SORTS: readonly SiteSort[] = ['label', 'thread', 'device'];

/** What belongs to one trace alone. */
const OF_TRACE = {
  ...{ process: ALL, device: ALL, zoom: FOLLOW, moment: NOW, momentTitle: '', momentBytes: null, ending: null },
  tab: 'lines' as TabId,
  filter: '', // it would hide lines of a program that it was not made for
  forecastBytes: null,
};

/** The state after an action; the same object where nothing changed. */
export function reduce(state: ViewState, action: Action): ViewState {
  switch (action.type) {
    case 'sort':
      return state.sort === action.sort
        ? { ...state, descending: !state.descending }
        : { ...state, sort: action.sort, descending: !TEXT_SORTS.includes(action.sort) };
    case 'table':
      return { ...state, table: { ...state.table, ...action.table } };
    case 'segments':
      return { ...state, segments: { ...state.segments, ...action.segments } };
    case 'flame':
      return { ...state, flame: { ...state.flame, ...action.flame } };
    case 'compare':
      return { ...state, compare: { ...state.compare, ...action.compare } };
    case 'series':
      return { ...state, hidden: toggled(state.hidden, action.series) };
    case 'moment':
      return { ...state, moment: action.moment, momentTitle: action.title, momentBytes: action.bytes ?? null };
    case 'trace':
      if (action.trace === state.trace) return state;
      return { ...state, ...OF_TRACE, compare: { ...state.compare, a: null, b: null }, trace: action.trace };
    default:
      return withField(state, action);
  }
}

function withField(state: ViewState, { type: _, ...field }: Extract<Action, { type: Plain | 'group' }>): ViewState {
  const same = Object.entries(field).every(([name, value]) => state[name as keyof ViewState] === value);
  return same ? state : { ...state, ...field };
}

/** A saved state, field by field: what is missing or strange becomes the default. */
export function restore(state: unknown): ViewState {
  const saved = fields(state);
  return saved.version === 1 ? readState(saved) : INITIAL;
}

function readState(saved: Record<string, unknown>) {
  const [flame, segments, stack] = [fields(saved.flame), fields(saved.segments), fields(saved.stack)];
  return {
    version: 1,
    tab: oneOf(saved.tab, TABS, 'lines'),
    /** null = tensors, or the driver's allocations where no tensor was seen. */
    layer: oneOf(saved.layer, LAYERS, null),
    groupBy: oneOf(saved.groupBy, GROUPS, 'line'),
    sort: oneOf(saved.sort, SITE_SORTS, 'liveBytes'),
    descending: flag(saved.descending, true),
    filter: typeof saved.filter === 'string' ? saved.filter : '',
    /** Only of this one, by its index; -1: all. */
    process: indexOrAll(saved.process),
    device: indexOrAll(saved.device),
    /** `fold`: runs of library frames are one. */
    flame: { weight: oneOf(flame.weight, TREE_WEIGHTS, 'live'), fold: flag(flame.fold, true) },
    table: restoreTable(saved.table),
    /** `toScale`: bars as long as their segments. */
    segments: { colourBy: oneOf(segments.colourBy, COLOURS, 'line'), toScale: flag(segments.toScale, true) },
    zoom: restoreZoom(saved.zoom),
    /** Series that the legend switched off. */
    hidden: Array.isArray(saved.hidden) ? SERIES.filter(series => (saved.hidden as unknown[]).includes(series)) : [],
    stack: { by: oneOf(stack.by, ['none', ...STACK_BY], 'line'), rank: oneOf(stack.rank, STACK_RANKS, 'alive') },
    /** Steps only where it is known what one is. */
    axis: oneOf(saved.axis, AXES, 'steps'),
    /** What the timeline is made of can be chosen beside it; null: where there is room. */
    tools: typeof saved.tools === 'boolean' ? saved.tools : null,
    /** Height of the timeline in an editor; null: the usual one. */
    timelinePx: typeof saved.timelinePx === 'number' && saved.timelinePx > 0 ? saved.timelinePx : null,
    ...restoreMoment(saved),
    /** The moment that was brought up when the program had ended (ns): the user may have left it since. */
    ending: typeof saved.ending === 'number' ? saved.ending : null,
    /** What PyTorch would reserve by the forecast that is shown; null: none is. */
    forecastBytes: null as number | null,
    /** The moments that are compared, as `pointText` writes them; null: the usual ones. */
    compare: restoreCompare(saved.compare),
    /** `startRealtimeMs` of the trace that zoom and moment belong to. */
    trace: typeof saved.trace === 'number' ? saved.trace : null,
  };
}

export const INITIAL: ViewState = readState({});

function restoreCompare(saved: unknown): { a: string | null; b: string | null; by: CompareBy } {
  const { a, b, by } = fields(saved);
  const point = (value: unknown): string | null => (typeof value === 'string' && pointOf(value) ? value : null);
  return { a: point(a), b: point(b), by: by === 'stack' ? 'stack' : 'line' };
}

/** What rows are shown of, that in words ('' for the present), and what was alive then (null: now, or not known). */
function restoreMoment(saved: Record<string, unknown>): {
  moment: Moment;
  momentTitle: string;
  momentBytes: number | null;
} {
  try {
    if (typeof saved.momentTitle !== 'string') throw new Error();
    const momentBytes = typeof saved.momentBytes === 'number' ? saved.momentBytes : null;
    return { moment: checkMoment(saved.moment), momentTitle: saved.momentTitle, momentBytes };
  } catch {
    return { moment: NOW, momentTitle: '', momentBytes: null };
  }
}

function indexOrAll(saved: unknown): number {
  return typeof saved === 'number' && Number.isSafeInteger(saved) && saved >= 0 ? saved : ALL;
}

/** The state for a trace: a process or a device that it does not have limits nothing. */
export function scoped(state: ViewState, { processes, devices }: Pick<TraceInfo, 'processes' | 'devices'>): ViewState {
  const process = processes.some(({ index }) => index === state.process) ? state.process : ALL;
  const device = devices.some(({ index }) => index === state.device) ? state.device : ALL;
  return process === state.process && device === state.device ? state : { ...state, process, device };
}

function restoreZoom(saved: unknown): Zoom {
  const { spanNs, endNs } = fields(saved);
  if (typeof spanNs !== 'number' || !(spanNs > 0)) return FOLLOW;
  return { spanNs, endNs: typeof endNs === 'number' && endNs >= 0 ? endNs : null };
}

function toggled<T>(list: readonly T[], item: T): T[] {
  return list.includes(item) ? list.filter(other => other !== item) : [...list, item];
}

function oneOf<T extends string, U extends T | null>(value: unknown, allowed: readonly T[], usual: U): T | U {
  return allowed.find(candidate => candidate === value) ?? usual;
}

function flag(value: unknown, usual: boolean): boolean {
  return typeof value === 'boolean' ? value : usual;
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
