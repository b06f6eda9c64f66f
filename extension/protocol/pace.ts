import { formatBytes, formatCount } from './format';
import type { Finding } from './verdicts';

/** `t` of @vscode/l10n, or of the editor. */
type Translate = (text: string, ...values: string[]) => string;

/** Steps after which nobody asks when memory is full. */
const FAR = 1_000_000;

/** How fast a finding's memory grows: `+51.00 MB a step`, `full in 412 steps`; empty where nothing grows. */
export function paceOf({ bytesPerStep, fullInSteps }: Finding, t: Translate): string[] {
  if (bytesPerStep <= 0) return [];
  const rate = t('+{0} a step', formatBytes(bytesPerStep));
  if (fullInSteps === null || fullInSteps > FAR) return [rate];
  return [rate, fullInSteps === 1 ? t('full in 1 step') : t('full in {0} steps', formatCount(fullInSteps))];
}
