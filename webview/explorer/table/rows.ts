// One row of the table as text and numbers, from a window of typed arrays.
import { t } from '@vscode/l10n';
import { formatRate } from '../../../extension/protocol/format';
import { libraryName } from '../../../extension/protocol/libraryName';
import type { GroupBy, LineSource, ProcessInfo, SiteWindow } from '../../../extension/protocol/trace';
import { deviceText } from '../details/blockRow';
import { baseName } from '../common/stack';
import type { RowVerdict } from '../../../extension/protocol/requests/verdictRequests';
import { findThread } from '../../../extension/protocol/threads';

/** The part of a verdict that a row shows. */
export type Judged = Pick<RowVerdict, 'state' | 'because' | 'bytesPerStep'>;
export type Trend = 'growing' | 'shrinking' | 'steady';

export interface Row {
  /** The same group has the same key in every answer. */
  key: string;
  /** Its biggest site now, whose stack is shown. */
  id: number;
  /** Bold part and dim part of the first cell. */
  primary: string;
  secondary: string;
  /** Whole path and label, for a tooltip. */
  title: string;
  /** The group in full, as it is copied. */
  name: string;
  file: string;
  line: number;
  function: string;
  source: LineSource;
  liveBytes: number;
  liveCount: number;
  peakBytes: number;
  allocations: number;
  frees: number;
  allocatedBytes: number;
  /** Slope of the recent past, and as text; empty where it is noise. */
  growthPerSecond: number;
  growth: string;
  trend: Trend;
  thread: string;
  device: string;
  /** Indices of the trace; -1: several, or the host. */
  indices: { process: number; thread: number; device: number };
  /** null: nothing to draw. */
  spark: Float64Array | null;
  /** What is said of it; null: nothing (yet). */
  verdict: Judged | null;
  bytesPerStep: number;
  /** Its place in a tree; null: the rows are a list. */
  tree: TreePlace | null;
}

/** Where a row stands in a tree of stacks. */
export interface TreePlace {
  /** From 1. */
  level: number;
  /** null: it calls nothing. */
  expanded: boolean | null;
  selfBytes: number;
}

const SPARK_VALUES = 16;
const NOISE_BYTES = 1024;
const NOISE_PART = 0.001;

/** Row `i` of a window. */
export function rowAt(window: SiteWindow, i: number, groupBy: GroupBy, processes: readonly ProcessInfo[]): Row {
  const file = window.file[i] ?? '';
  const line = window.line[i] ?? 0;
  const [primary, secondary] = names(window, i, groupBy);
  const liveBytes = window.liveBytes[i] ?? 0;
  const growth = window.growth[i] ?? 0;
  const trend = trendOf(growth, liveBytes);
  return {
    key: rowKey(window, i, groupBy),
    id: window.id[i] ?? 0,
    primary,
    secondary,
    title: line > 0 ? `${file}:${line}` : primary,
    name: fullName(window, i, groupBy),
    file,
    line,
    function: window.function[i] ?? '',
    source: window.source[i] ?? 'none',
    liveBytes,
    liveCount: window.liveCount[i] ?? 0,
    peakBytes: window.peakBytes[i] ?? 0,
    allocations: window.allocations[i] ?? 0,
    frees: window.frees[i] ?? 0,
    allocatedBytes: window.allocatedBytes[i] ?? 0,
    growthPerSecond: growth,
    growth: trend === 'steady' ? '' : formatRate(growth).replace('-', '\u2212'),
    trend,
    thread: threadText(processes, window.process[i] ?? -1, window.thread[i] ?? -1),
    device: deviceText(window.device[i] ?? -1),
    indices: {
      process: window.process[i] ?? -1,
      thread: window.thread[i] ?? -1,
      device: window.device[i] ?? -1,
    },
    spark: Number.isNaN(window.spark[i * SPARK_VALUES])
      ? null
      : window.spark.subarray(i * SPARK_VALUES, (i + 1) * SPARK_VALUES),
    verdict: null,
    bytesPerStep: 0,
    tree: null,
  };
}

/** What names a group from one answer to the next (its biggest site may change meanwhile). */
export function rowKey(window: SiteWindow, i: number, groupBy: GroupBy): string {
  const file = window.file[i] ?? '';
  if (groupBy === 'site') return `${window.id[i] ?? 0}`;
  if (groupBy === 'line' && file !== '') return `${file}:${window.line[i] ?? 0}`;
  if (groupBy === 'function') return `${file}:${window.function[i] ?? ''}`;
  return window.label[i] ?? '';
}

/** Below a kilobyte a second, or a thousandth of what is alive, a slope is noise; NaN: it is not known. */
export function trendOf(bytesPerSecond: number, liveBytes: number): Trend {
  if (!(Math.abs(bytesPerSecond) >= Math.max(NOISE_BYTES, liveBytes * NOISE_PART))) return 'steady';
  return bytesPerSecond > 0 ? 'growing' : 'shrinking';
}

/** Polyline points of a spark line in a box; a flat line in its middle when nothing changed. */
export function sparkPoints(values: Float64Array, width: number, height: number): string {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const range = high - low;
  let points = '';
  for (let i = 0; i < values.length; i++) {
    const x = (i / Math.max(values.length - 1, 1)) * (width - 2) + 1;
    const part = range > 0 ? (values[i]! - low) / range : 0.5;
    points += `${i > 0 ? ' ' : ''}${x.toFixed(1)},${(height - 1.5 - part * (height - 3)).toFixed(1)}`;
  }
  return points;
}

function fullName(window: SiteWindow, i: number, groupBy: GroupBy): string {
  const file = window.file[i] ?? '';
  if (groupBy === 'line' || groupBy === 'site')
    return file === '' ? window.library[i] || t('no Python line') : `${file}:${window.line[i] ?? 0}`;
  if (groupBy === 'function') return window.function[i] || t('no Python function');
  return window.label[i] ?? '';
}

function names(window: SiteWindow, i: number, groupBy: GroupBy): [string, string] {
  const file = window.file[i] ?? '';
  const line = window.line[i] ?? 0;
  const place = line > 0 ? `${baseName(file)}:${line}` : '';
  const name = window.function[i] ?? '';
  const label = window.label[i] ?? '';
  if (groupBy === 'line' || groupBy === 'site') return place ? [place, name] : lineless(window, i);
  if (groupBy === 'function') return [name || label || t('no Python function'), place];
  if (groupBy === 'module') return file === '' ? lineless(window, i) : [baseName(file), label];
  return [label, place];
}

/** The library that called the driver stands for the line that is not known. */
function lineless(window: SiteWindow, i: number): [string, string] {
  const library = libraryName(window.library[i] ?? '');
  return library === '' ? [t('no Python line'), ''] : [library, t('no Python line')];
}

function threadText(processes: readonly ProcessInfo[], process: number, thread: number): string {
  if (thread < 0) return t('several');
  const found = findThread(processes, process, thread);
  return found ? `${found.name}:${found.tid}` : t('thread {0}', thread);
}

/** Whether what was allocated in a backward pass is shown at another line than the one that ran. */
export function isOfBackward(source: LineSource): boolean {
  return source === 'forward' || source === 'forward-near' || source === 'backward-call';
}
