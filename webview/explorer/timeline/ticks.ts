// Where the axes' labels stand and their texts: round numbers of bytes and of time, no more than fit.

const SECOND = 1e9;
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

/** Bytes from 0 to at least `top`, in steps of 1, 2 or 5 (up to 512) of a unit of 1024; at most `most` + 1 ticks. */
export function byteTicks(top: number, most: number): number[] {
  const least = Math.max(top, 1) / Math.max(most, 1);
  const unit = 1024 ** Math.max(0, Math.floor(Math.log(Math.max(least, 1)) / Math.log(1024)));
  const step = unit * ([1, 2, 5, 10, 20, 50, 100, 200, 256, 512].find(size => size * unit >= least) ?? 1024);
  const ticks = [0];
  for (let value = step; ticks[ticks.length - 1]! < Math.max(top, 1); value += step) ticks.push(value);
  return ticks;
}

/** A tick of `byteTicks` without needless decimals: `512 MB`, `1.5 GB`. */
export function byteLabel(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number(value.toFixed(2))} ${units[unit]}`;
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
