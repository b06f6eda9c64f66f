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
    headline: t('The process uses GPU memory that no traced call allocated'),
    ...layerGrowthOf(growth),
    bytes: judged.ledger.remainderBytes ?? 0,
    evidence: [t('According to the device (NVML) the process grows; the driver calls do not account for it.')],
    ruledOut: [t('No leak of tensors: memory that tensors lie in is traced.')],
    suggestion: t(
      'Look for what loads kernels or modules again in each step: repeated compilation, new contexts, or streams that are never destroyed.',
    ),
  });
}
