// One row of the table as text and numbers, from a window of typed arrays.
import { t } from '@vscode/l10n';
import { baseName, fileLine, formatRate } from '../../../extension/text/format';
import { moduleText } from '../../../extension/text/moduleText';
import { libraryName } from '../../../extension/text/libraryName';
import type { RowVerdict } from '../../../extension/protocol/requests/verdictRequests';
import type { GroupBy, Layer, SiteRow, SiteWindow, ProcessInfo } from '../../../extension/protocol/trace';
import { CATEGORIES, siteRow } from '../../../extension/protocol/trace';
import { deviceText, threadText } from './threadNames';
import { WORDS } from './vocabularyWords';

/** The part of a verdict that a row shows. */
export type Judged = Pick<RowVerdict, 'state' | 'because' | 'bytesPerStep'>;
export type Trend = 'growing' | 'shrinking' | 'steady';

/** What the page makes of a row. */
interface RowOfPage {
  /** The same group has the same key in every answer. */
  key: string;
  /** Bold part and dim part of the first cell. */
  primary: string;
  secondary: string;
  /** Whole path and label, for a tooltip. */
  title: string;
  /** The group in full, as it is copied. */
  name: string;
  trend: Trend;
  thread: string;
  device: string;
  /** Indices of the trace; -1: several, or the host. */
  indices: { process: number; thread: number; device: number };
  /** null: nothing to draw. */
  spark: Float64Array | null;
  /** What its colour is known by: `file:line` of a row that is a line; '' of others. */
  hueName: string;
  /** Its verdict; null: none (yet). */
  verdict: Judged | null;
  bytesPerStep: number;
  /** Its place in a tree; null: the rows are a list. */
  tree: TreePlace | null;
}
export type Row = RowOfPage & Omit<SiteRow, keyof RowOfPage>;

/** Where a row stands in a tree of stacks. */
export interface TreePlace {
  /** From 1. */
  level: number;
  /** null: it calls nothing. */
  expanded: boolean | null;
  selfBytes: number;
}

const NOISE_BYTES = 1024;
const NOISE_PART = 0.001;

/** Row `i` of a window. */
export function rowAt(
  window: SiteWindow,
  i: number,
  groupBy: GroupBy,
  processes: readonly ProcessInfo[],
  layer: Layer,
): Row {
  const found = siteRow(window, i);
  const { file, line, growth, process, thread, device } = found;
  const oneDevice = device >= 0 || layer === 'host'; // else several, or none is known
  const named = { thread: threadText(processes, process, thread), device: oneDevice ? deviceText(device, layer) : '' };
  const own = (groupBy === 'thread' && thread >= 0) || (groupBy === 'device' && device >= 0);
  const site = { ...found, label: own ? named[groupBy] : labelOf(found.label, groupBy) };
  const [primary, secondary] = names(site, groupBy);
  const trend = trendOf(growth, site.liveBytes);
  return {
    ...site,
    key: rowKey(found, groupBy),
    primary,
    secondary,
    title: line > 0 ? `${file}:${line}` : primary,
    name: fullName(site, groupBy),
    trend,
    ...named,
    indices: { process, thread, device },
    spark: Number.isNaN(site.spark[0]) ? null : site.spark,
    hueName: (groupBy === 'line' || groupBy === 'site') && line > 0 ? `${file}:${line}` : '',
    verdict: null,
    bytesPerStep: 0,
    tree: null,
  };
}

function labelOf(label: string, groupBy: GroupBy): string {
  if (groupBy === 'module-path') return moduleText(label, t);
  const category = groupBy === 'category' && CATEGORIES.find(one => one === label);
  return category ? WORDS.categories[category] : label;
}

/** What names a group from one answer to the next (its biggest site may change meanwhile). */
export function rowKey({ id, file, line, function: name, label }: SiteRow, groupBy: GroupBy): string {
  if (groupBy === 'site') return `${id}`;
  if (groupBy === 'line' && file !== '') return `${file}:${line}`;
  return groupBy === 'function' ? `${file}:${name}` : label;
}

/** Below a kilobyte a second, or a thousandth of what is alive, a slope is noise; NaN: it is not known. */
export function trendOf(bytesPerSecond: number, liveBytes: number): Trend {
  if (!(Math.abs(bytesPerSecond) >= Math.max(NOISE_BYTES, liveBytes * NOISE_PART))) return 'steady';
  return bytesPerSecond > 0 ? 'growing' : 'shrinking';
}

/** The slope in words; empty where it is noise. */
export function growthText(bytesPerSecond: number, trend: Trend): string {
  return trend === 'steady' ? '' : formatRate(bytesPerSecond);
}

/** Polyline points of a spark line in a box, from zero up: what changes little is flat. */
export function sparkPoints(values: Float64Array, width: number, height: number): string {
  const most = Math.max(...values);
  const points = Array.from(values, (value, i) => {
    const x = (i / Math.max(values.length - 1, 1)) * (width - 2) + 1;
    const part = most > 0 ? value / most : 0;
    return `${x.toFixed(1)},${(height - 1.5 - part * (height - 3)).toFixed(1)}`;
  });
  return points.join(' ');
}

function fullName({ file, line, function: name, library, label }: SiteRow, groupBy: GroupBy): string {
  if (groupBy === 'line' || groupBy === 'site') return file === '' ? library || t('no Python line') : `${file}:${line}`;
  return groupBy === 'function' ? name || t('no Python function') : label;
}

function names(site: SiteRow, groupBy: GroupBy): [string, string] {
  const { file, line, function: name, label } = site;
  const place = line > 0 ? fileLine(file, line) : '';
  if (groupBy === 'line' || groupBy === 'site') return place ? [place, name] : lineless(site);
  if (groupBy === 'function') return [name || label || t('no Python function'), place];
  if (groupBy === 'file') return file === '' ? lineless(site) : [baseName(file), label];
  return [label, place];
}

/** The library that called the driver stands for the line that is not known. */
function lineless(site: SiteRow): [string, string] {
  const library = libraryName(site.library);
  return library === '' ? [t('no Python line'), ''] : [library, t('no Python line')];
}
