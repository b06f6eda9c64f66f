// Single allocations that are far bigger than usual.
import { t } from '@vscode/l10n';
import { formatBytes } from '../../../text/format';
import type { TraceSource } from '../../../protocol/trace';
import type { Finding } from '../../../protocol/verdicts';
import { THRESHOLDS as T } from '../../series/thresholds';
import type { JudgedSite } from '../../sites/states';
import { placeText } from '../../words';
import { makeFinding } from './wording';
import { ofSite } from './ofSite';

/** Single allocations far outside their line's habit. */
export function anomalyFindings(sites: readonly JudgedSite[], source: TraceSource): Finding[] {
  return sites.flatMap(judged => {
    const { verdict, steps } = judged;
    if (verdict.state !== 'anomaly') return [];
    const bytes = Math.max(...steps.stepLargestBytes);
    if (bytes < T.layerBytes) return [];
    const where = ofSite(judged, 'anomaly', source);
    const line = placeText(where.place);
    return makeFinding({
      ...where,
      verdict: 'anomaly',
      headline: t('One allocation of {0} at {1} is much larger than usual for this line', formatBytes(bytes), line),
      bytes,
      count: 1,
      ruledOut: (steps.liveBytes.at(-1) ?? 0) < bytes ? [t('Not a leak: it was freed again.')] : [],
      suggestion: t('Check the input of that step: one long sequence or large batch sets the peak for the whole run.'),
    });
  });
}
