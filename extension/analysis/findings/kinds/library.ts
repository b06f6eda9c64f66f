// A library that takes ever more from the driver.
import { t } from '@vscode/l10n';
import { formatBytes } from '../../../text/format';
import { keepsArrays } from '../../../text/libraryName';
import type { Finding } from '../../../protocol/verdicts';
import type { JudgedLedger } from '../../ledger/ledger';
import { suggest } from './suggestions';
import { makeFinding } from './wording';
import { layerGrowthOf, ofDevice } from './ofDevice';

/** Libraries whose driver memory grows by small parts, none of which is a leak by itself. */
export function libraryFindings(judged: JudgedLedger, leaks: readonly Finding[]): Finding[] {
  const leaking = new Set(leaks.flatMap(leak => leak.sites));
  const arrays = leaks.some(({ layer, process }) => layer === 'tensor' && process === judged.ledger.process);
  return judged.growing.flatMap(({ library: { name, path, bytes, sites }, growth, confidence }) => {
    if (sites.some(site => leaking.has(site)) || (arrays && keepsArrays(name))) return [];
    const where = ofDevice(judged, 'library');
    return makeFinding({
      ...where,
      id: `${where.id} ${path}`,
      verdict: 'leak',
      class: 'driver',
      headline: t('{0} allocates more and more memory from the driver', name),
      ...layerGrowthOf(growth),
      bytes,
      confidence,
      sites,
      library: name,
      evidence: [t('{1} holds {0} that it allocated directly from the driver.', formatBytes(bytes), path)],
      ruledOut: [t('Not a tensor leak: tensor memory is not counted here.')],
      suggestion: suggest('driver', null, { library: name }),
    });
  });
}
