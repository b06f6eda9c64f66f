// Memory that waits for a stream.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../text/format';
import type { Finding } from '../../../protocol/verdicts';
import type { JudgedLedger } from '../../ledger/ledger';
import type { Pending } from '../../ledger/pending';
import type { Growth } from '../../series/growth';
import { rateText, withSince } from '../../words';
import { makeFinding } from './wording';
import { ofDevice } from './ofDevice';

export function pendingFinding(judged: JudgedLedger, pending: Pending): Finding {
  return makeFinding({
    ...ofDevice(judged, 'pending'),
    verdict: 'pending',
    ...pendingWords(pending, judged.reserved),
    bytesPerStep: pending.growth?.perStep ?? 0,
    bytes: pending.bytes,
    sinceStep: pending.sinceStep,
  });
}

/** @param cache growth of the allocator's segments beyond their tensors; null: they do not grow so */
function pendingWords(
  { growth, share, bytes, sinceStep, readings, leastBytes, mostBytes }: Pending,
  cache: Growth | null,
): Pick<Finding, 'headline' | 'detail' | 'evidence' | 'ruledOut' | 'suggestion'> {
  const size = (amount: string): string =>
    share === null ? amount : t('{0}, {1}% of PyTorch’s reserved memory', amount, formatCount(100 * share));
  const amounts = size(t('{0}–{1}', formatBytes(leastBytes), formatBytes(mostBytes)));
  const evidence = [
    t(
      'At each of {0} step ends, PyTorch’s allocator reported blocks that are freed but still in use by another stream: {1}.',
      formatCount(readings),
      amounts,
    ),
    t('They can be reused once that stream has caught up; PyTorch checks this when it allocates.'),
  ];
  if (cache !== null)
    evidence.push(t('Meanwhile, PyTorch’s reserved memory grows by {0} per step.', formatBytes(cache.perStep)));
  return {
    headline:
      growth === null
        ? t('Freed memory is waiting for another stream')
        : t('More and more freed memory is waiting for another stream'),
    detail: growth === null ? withSince(size(formatBytes(bytes)), sinceStep) : rateText(growth.perStep, sinceStep),
    evidence,
    ruledOut: [
      t('Not a leak: the program has freed these tensors.'),
      t('Not fragmentation: the blocks are whole, but cannot be reused yet.'),
    ],
    suggestion: t(
      'Instead of using `record_stream`, keep these tensors until the streams are synchronized (`stream.synchronize()`, or `wait_stream` on the main stream). For torch.distributed collectives, set `TORCH_NCCL_AVOID_RECORD_STREAMS=1`.',
    ),
  };
}
