// Much memory that only the garbage collector frees.
import { t } from '@vscode/l10n';
import { formatBytes } from '../../../text/format';
import type { TraceSource } from '../../../protocol/trace';
import type { Finding } from '../../../protocol/verdicts';
import { THRESHOLDS as T } from '../../series/thresholds';
import type { JudgedSite } from '../../sites/states';
import { placeText } from '../../words';
import { suggest } from './suggestions';
import { makeFinding } from './wording';
import { ofSite } from './ofSite';

/** Much memory that only the collector frees. */
export function cycleFindings(sites: readonly JudgedSite[], source: TraceSource): Finding[] {
  return sites.flatMap(judged => {
    if (judged.verdict.state !== 'cycle') return [];
    const bytes = Math.max(...judged.steps.oldLiveBytes);
    if (bytes < T.layerBytes) return [];
    const where = ofSite(judged, 'cycle', source);
    const line = placeText(where.place);
    return makeFinding({
      ...where,
      verdict: 'cycle',
      class: 'cycle',
      headline: t(
        'Reference cycles at {0} keep up to {1} alive until the garbage collector runs',
        line,
        formatBytes(bytes),
      ),
      bytes,
      ruledOut: [t('Not a leak: the garbage collector frees it.')],
      suggestion: suggest('cycle', null),
    });
  });
}
