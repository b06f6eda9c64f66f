import { cellName } from '../protocol/notebookCells';
import type { Layer } from '../protocol/trace';

/** `t` of @vscode/l10n, or of the editor. */
export type Translate = (text: string, ...values: string[]) => string;

// How numbers read, the same everywhere: in the table, the page and the status bar.
export const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

export const LAYER_NAMES: Record<Layer, string> = {
  tensor: 'tensor layer',
  driver: 'driver layer',
  host: 'pinned host memory',
};

/** Bytes in units of 1024: `512 B`, `1 KiB`, `20.25 MiB`, `149.5 MiB`, `1004 KiB`: as long everywhere, since the same figure stands in several places. */
export function formatBytes(bytes: number): string {
  const sign = bytes < 0 ? '\u2212' : '';
  let value = Math.abs(bytes);
  if (!Number.isFinite(value)) return '?';
  if (Math.round(value) < 1024) return `${sign}${Math.round(value)} B`;
  let unit = 0;
  // 1023.5 would print as "1024": it belongs to the next unit.
  while (unit + 1 < BYTE_UNITS.length && (unit === 0 || value >= 1023.5)) {
    value /= 1024;
    unit++;
  }
  const decimals = value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
  return `${sign}${value.toFixed(decimals).replace(/\.00?$/, '')} ${BYTE_UNITS[unit]}`;
}

/** A text that no line ends in. */
export const unbroken = (text: string): string => text.replaceAll(' ', '\u00a0');

/** Bytes a second with a sign: `+1.20 MiB/s`; the empty string below one byte a second. */
export function formatRate(bytesPerSecond: number): string {
  if (!Number.isFinite(bytesPerSecond) || Math.abs(bytesPerSecond) < 1) return '';
  return `${bytesPerSecond > 0 ? '+' : ''}${formatBytes(bytesPerSecond)}/s`;
}

/** Whole numbers with separators: `12,345`. */
export function formatCount(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Nanoseconds in words: `850 ns`, `12.3 ms`, `4.20 s`, `3 min 05 s`, `2 h 04 min`. */
export function formatDuration(nanoseconds: number): string {
  const magnitude = Math.max(0, nanoseconds);
  if (magnitude < 1e3) return `${Math.round(magnitude)} ns`;
  if (magnitude < 1e6) return `${(magnitude / 1e3).toFixed(1)} µs`;
  if (magnitude < 1e9) return `${(magnitude / 1e6).toFixed(1)} ms`;
  const seconds = magnitude / 1e9;
  if (seconds < 59.995) return `${seconds.toFixed(2)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
}

/** `2 processes`, `1 process`. */
export function formatPlural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Local time with its offset: `2025-08-25T15:45:33+07:00`. */
export function formatTimestamp(date: Date): string {
  const offset = -date.getTimezoneOffset();
  const zone = `${offset < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}`;
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}${zone}`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

/** What stands behind the last slash of a path; `In [7]` of a notebook's cell. */
export function baseName(path: string): string {
  return cellName(path) ?? path.slice(path.lastIndexOf('/') + 1);
}

/** `train.py:41`, `In [7]: 3`. */
export function fileLine(file: string, line: number): string {
  if (line === 0) return baseName(file); // a native function, or a whole backward pass
  return `${baseName(file)}${cellName(file) === null ? ':' : ': '}${line}`;
}

/** `train.py:41`; null: it is no line of a file. */
export function lineName(place: { file: string | null; line: number | null } | null): string | null {
  return place?.file && place.line !== null ? fileLine(place.file, place.line) : null;
}

/** What was lost, by cause: `budget: 4`. */
export function lossTexts({ byCause }: { byCause: Record<string, number> }): string[] {
  const named = (cause: string): string => (cause === 'torn' ? 'begun but never written' : cause);
  const lost = Object.entries(byCause).filter(([, count]) => count > 0);
  return lost.map(([cause, count]) => `${named(cause)}: ${formatCount(count)}`);
}

/** `gpu_0`, `host`; memory of a device that is not known is no host memory. */
export function deviceName(device: number, layer: Layer): string {
  if (device >= 0) return `gpu_${device}`;
  return layer === 'host' ? 'host' : 'unknown GPU';
}
