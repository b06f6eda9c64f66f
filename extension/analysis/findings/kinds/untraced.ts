// Growth of a process that no traced call accounts for.
import { t } from '@vscode/l10n';
import type { Finding } from '../../../protocol/verdicts';
import type { JudgedLedger } from '../../ledger/ledger';
import type { Growth } from '../../series/growth';
import { makeFinding } from './wording';
import { layerGrowthOf, ofDevice } from './ofDevice';

export function untracedFinding(judged: JudgedLedger, growth: Growth): Finding {
  return makeFinding({
    ...ofDevice(judged, 'untraced'),
    verdict: 'untraced',
    headline: t('The process uses more and more GPU memory that no traced call allocated'),
    ...layerGrowthOf(growth),
    bytes: judged.ledger.remainderBytes ?? 0,
    evidence: [
      t('The GPU’s own figures (NVML) show that the process grows, but the traced driver calls do not explain it.'),
    ],
    ruledOut: [t('Not a tensor leak: tensor memory is traced.')],
    suggestion: t(
      'Look for code that loads kernels or modules again every step: repeated compilation, new contexts, or streams that are never destroyed.',
    ),
  });
}
