// The card's memory in words: the parts of its bar, and the figures of the header.
import { t } from '@vscode/l10n';
import type { CardLedger, LedgerPart, LedgerPartKind } from '../../../extension/protocol/requests/ledgerRequests';
import type { TraceInfo } from '../../../extension/protocol/trace';
import { formatBytes } from '../../../extension/text/format';
import { deviceText } from '../common/threadNames';

/** Name in the legend, and what it means. */
export const PART_WORDS: Record<LedgerPartKind, readonly [string, string]> = {
  tensor: [t('tensors'), t('Live tensors')],
  pending: [
    t('waiting for a stream'),
    t('Freed tensors whose memory another stream still uses, as PyTorch reported at the end of a step'),
  ],
  pools: [t('private pools'), t('Reserved for CUDA graphs or MemPools and currently unused; nothing else can use it')],
  cached: [t('cached'), t('Reserved by the framework’s allocator, but not used by any tensor')],
  driver: [t('other driver'), t('Allocated from the CUDA driver outside the framework’s allocator')],
  rest: [
    t('rest of the process'),
    t('Used by the traced processes, but not allocated by a traced call: CUDA context, modules, other libraries'),
  ],
  others: [t('other processes'), t('Used by processes that are not traced')],
  untold: [
    t('not traced'),
    t('In use, but not allocated by a traced call: CUDA context and modules of this program, or other processes'),
  ],
  unknown: [t('free or not traced'), t('Unknown, because the GPU could not be queried')],
  free: [t('free'), t('Free, as reported by the GPU')],
};

/** A slope below this is rounding (bytes per step). */
const NOISE_BYTES = 1024;

/** `+30.20 MB per step`; empty where it does not grow or shrink. */
export function slopeText({ bytesPerStep }: Pick<LedgerPart, 'bytesPerStep'>): string {
  if (bytesPerStep === null || Math.abs(bytesPerStep) < NOISE_BYTES) return '';
  const sign = bytesPerStep > 0 ? '+' : '\u2212';
  return t('{0} per step', `${sign}${formatBytes(Math.abs(bytesPerStep))}`);
}

/** Bytes in use, as the least where a part is not known. */
export function usedText({ parts, totalBytes, overBytes }: CardLedger): string {
  const open = parts.find(part => part.kind === 'free' || part.kind === 'unknown');
  const used = totalBytes + overBytes - (open?.bytes ?? 0);
  return open?.kind === 'unknown' ? `≥ ${formatBytes(used)}` : formatBytes(used);
}

/** One sentence for screen readers. */
export function cardText(card: CardLedger): string {
  const words = card.parts.map(part => {
    const slope = slopeText(part);
    return `${PART_WORDS[part.kind][0]} ${formatBytes(part.bytes)}${slope ? `, ${slope}` : ''}`;
  });
  return `${deviceText(card.device, 'driver')}, ${card.name}: ${words.join('; ')}`;
}

/** Width of each part in percent of the bar; they sum to 100, whatever the bytes. */
export function partWidths({ parts }: CardLedger): number[] {
  const whole = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (whole <= 0) return parts.map((_, i) => (i === parts.length - 1 ? 100 : 0));
  return parts.map(part => (part.bytes / whole) * 100);
}

/** Figures of the tensor layer where there are tensors, else of the driver's (never both: one lies inside the other). */
export function headline(info: TraceInfo) {
  const tensors = info.totals.some(one => one.layer === 'tensor' && one.allocations > 0);
  const rows = info.totals.filter(one => one.layer === (tensors ? 'tensor' : 'driver') && one.device >= 0);
  const devices = info.devices.filter(device => rows.some(one => one.device === device.index));
  const sum = (pick: 'liveBytes' | 'allocations' | 'frees'): number => rows.reduce((all, one) => all + one[pick], 0);
  return {
    liveBytes: sum('liveBytes'),
    // Of several processes or cards the peaks need not have been at one time.
    peakBytes: rows.length === 1 ? rows[0]!.peakBytes : null,
    totalBytes: (devices.length > 0 ? devices : info.devices).reduce((bytes, one) => bytes + one.totalBytes, 0),
    allocations: sum('allocations'),
    frees: sum('frees'),
  };
}
