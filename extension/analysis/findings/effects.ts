import type { Experiment, ExperimentEffect } from '../../protocol/requests/verdictRequests';
import type { Layer, TraceInfo } from '../../protocol/trace';

type Figures = Record<string, unknown>;

/**
 * What an experiment freed, by the agent's answer; where PyTorch told no figures, by the trace before and after it. Negative:
 * there is more than before.
 */
export function readEffect(
  experiment: Experiment,
  text: string,
  process: number,
  before: TraceInfo,
  after: TraceInfo,
): ExperimentEffect {
  const told = parse(text);
  const nothing = { objects: null, tensorBytes: null, reservedBytes: null, driverBytes: null };
  if (told.ok !== true) {
    const error = typeof told.error === 'string' ? told.error : 'The answer is damaged.';
    return { experiment, error, ...nothing };
  }
  const freed = (layer: Layer): number => liveBytes(before, process, layer) - liveBytes(after, process, layer);
  const objects = number(told.collected) ?? number(told.dropped);
  const [was, is] = [list(told.before), list(told.after)];
  if (was.length === 0) {
    const [tensorBytes, driverBytes] = [freed('tensor'), freed('driver')];
    return { experiment, error: null, objects, tensorBytes, reservedBytes: null, driverBytes };
  }
  const less = (name: string): number => sum(was, name) - sum(is, name);
  const [tensorBytes, reservedBytes, driverBytes] = [less('allocated'), less('reserved'), less('driver')];
  return { experiment, error: null, objects, tensorBytes, reservedBytes, driverBytes };
}

function liveBytes(info: TraceInfo, process: number, layer: Layer): number {
  return info.totals.reduce((sum, entry) => {
    return sum + (entry.process === process && entry.layer === layer ? entry.liveBytes : 0);
  }, 0);
}

function parse(text: string): Figures {
  try {
    const value: unknown = JSON.parse(text);
    return isFigures(value) ? value : {};
  } catch {
    return {};
  }
}

function isFigures(value: unknown): value is Figures {
  return typeof value === 'object' && value !== null;
}

function list(value: unknown): Figures[] {
  return Array.isArray(value) ? value.filter(isFigures) : [];
}

function number(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function sum(entries: readonly Figures[], name: string): number {
  return entries.reduce((all, entry) => all + (number(entry[name]) ?? 0), 0);
}
