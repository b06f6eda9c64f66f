// Where the axes' labels stand and their texts: round numbers of bytes and of time, no more than fit.
import { BYTE_UNITS } from '../../../extension/text/format';

/** A label is empty where only a mark stands. */
export interface Tick {
  value: number;
  label: string;
}

/** Steps of bytes are at least one part of so many of a unit. */
const FINEST = 1000;
const SECOND = 1e9;
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

/** Bytes from 0 to `top`, at round numbers of one unit, that of `top`: `0`, `0.5 GiB`, `1 GB`. About `most`; above 0 at least one. */
export function byteTicks(top: number, most: number): Tick[] {
  const highest = Math.max(top, 1);
  let power = 0;
  while (power < BYTE_UNITS.length - 1 && highest >= 1024 ** (power + 1)) power++;
  const unit = 1024 ** power;
  const inUnits = highest / unit;
  const fitting = roundStep((FINEST * inUnits) / Math.max(most, 1)) / FINEST;
  const step = Math.max(
    fitting <= inUnits ? fitting : roundStep((FINEST * inUnits) / 2.5) / FINEST,
    power === 0 ? 1 : 0,
  );
  return Array.from({ length: Math.floor(inUnits / step) + 1 }, (_, i) => {
    const label = i === 0 ? '0' : `${Number((i * step).toFixed(3))} ${BYTE_UNITS[power]}`;
    return { value: i * step * unit, label };
  });
}

/** Times (ns) inside a window at round numbers, at most `most`. */
export function timeTicks(fromNs: number, toNs: number, most: number): number[] {
  const step = timeStep((toNs - fromNs) / Math.max(most, 1));
  const ticks: number[] = [];
  for (let i = Math.ceil(fromNs / step); i * step <= toNs; i++) ticks.push(i * step);
  return ticks;
}

/** A tick of `timeTicks`; `stepNs`: how exact it must be: `1:05`, `2:00:00`, `0.35 s`, `12.5 ms`. */
export function timeLabel(timeNs: number, stepNs: number): string {
  const seconds = timeNs / SECOND;
  if (stepNs < SECOND) return subSecond(timeNs, stepNs);
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  const pad = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${pad(whole % 60)}`;
  return `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(whole % 60)}`;
}

function timeStep(leastNs: number): number {
  if (leastNs > SECOND / 2) {
    const days = Math.ceil(leastNs / SECOND / 86400);
    return (TIME_STEPS.find(step => step * SECOND >= leastNs) ?? days * 86400) * SECOND;
  }
  return roundStep(leastNs);
}

/** 1, 2 or 5 times a power of ten: the first that is no less. */
export function roundStep(least: number): number {
  const decade = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return decade * ([1, 2, 5].find(step => step * decade >= least) ?? 10);
}

function subSecond(timeNs: number, stepNs: number): string {
  if (timeNs >= SECOND || stepNs >= SECOND / 100) {
    const decimals = Math.max(0, Math.ceil(9 - Math.log10(stepNs) - 1e-9));
    return `${(timeNs / SECOND).toFixed(Math.min(decimals, 9))} s`;
  }
  const decimals = Math.max(0, Math.ceil(6 - Math.log10(stepNs) - 1e-9));
  return `${(timeNs / 1e6).toFixed(Math.min(decimals, 6))} ms`;
}
