// Two moments as a whole, in one line.
import { t } from '@vscode/l10n';
import type { Comparison } from '../../../extension/protocol/requests/compareRequests';
import { baseName, formatBytes, formatCount } from '../../../extension/text/format';

/** @param step at whose end both are; null: they are not, or not of two runs */
export function sumsText(
  { bytesA, bytesB, added, gone, renamed, total }: Comparison,
  step: number | null = null,
): string {
  const difference = bytesB - bytesA;
  const sign = difference > 0 ? '+' : '';
  const parts = [`${formatBytes(bytesA)} → ${formatBytes(bytesB)} (${sign}${formatBytes(difference)})`];
  if (added + gone > 0) parts.push(t('{0} new, {1} gone', formatCount(added), formatCount(gone)));
  if (added > 0 && gone > 0 && added + gone === total)
    parts.push(t('no line in common: these may be different programs'));
  if (renamed !== null) parts.push(t('{1} renamed to {0}', baseName(renamed.to), baseName(renamed.from)));
  if (step !== null) parts.unshift(t('Both at the end of step {0}', formatCount(step)));
  return parts.join(' · ');
}
