import { t } from '@vscode/l10n';
import { effectText } from '../../protocol/requests/effect';
import type { Experiment, ExperimentEffect } from '../../protocol/requests/verdictRequests';
import type { Layer, TraceInfo } from '../../protocol/trace';
import { liveBytes } from '../ledger/ledgerLayer';
import { sum } from '../series/statistics';
import { fieldsIn, parseFields, type Fields } from '../../protocol/fields';

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
  const answer = parseFields(text) ?? {};
  const effect = { experiment, error: null, objects: null, tensorBytes: null, reservedBytes: null, driverBytes: null };
  if (answer.ok !== true)
    return { ...effect, error: typeof answer.error === 'string' ? answer.error : t('The answer is damaged.') };
  const objects = number(answer.collected) ?? number(answer.dropped);
  const [was, is] = [fieldsIn(answer.before), fieldsIn(answer.after)];
  if (was.length === 0) {
    const freed = (layer: Layer): number =>
      liveBytes(before, layer, { process }) - liveBytes(after, layer, { process });
    return { ...effect, objects, tensorBytes: freed('tensor'), driverBytes: freed('driver') };
  }
  const less = (name: string): number => total(was, name) - total(is, name);
  const [tensorBytes, reservedBytes, driverBytes] = [less('allocated'), less('reserved'), less('driver')];
  return { ...effect, objects, tensorBytes, reservedBytes, driverBytes };
}

function number(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function total(list: readonly Fields[], name: string): number {
  return sum(list.map(entry => number(entry[name]) ?? 0));
}

/** What an experiment did, in a sentence. */
export function experimentText(effect: ExperimentEffect): string {
  return effectText(effect, t);
}
