import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../text/format';
import type { LedgerSeries } from '../../protocol/trace';
import type { Finding } from '../../protocol/verdicts';
import type { Growth } from '../series/growth';
import { fewestRecords } from '../series/records';
import { at } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import { rateText, withSince } from '../words';
import { layerGrowth } from './ledgerLayer';

// Memory that waits for a stream: PyTorch was given the tensor back, but another stream still uses its block (`record_stream`), so
// that the block cannot be handed out again. Known of the steps at whose end the allocator was queried.

/** Much of it, or more and more. */
export type Pending = NonNullable<ReturnType<typeof judgePending>>;

interface Reading {
  step: number;
  bytes: number;
  reserved: number;
}

/** null: little waits, or only now and then; or it was not read. */
export function judgePending(series: Pick<LedgerSeries, 'last' | 'pendingBytes' | 'reservedBytes'>) {
  const readings = readingsOf(series);
  const growth = growthOf(readings);
  const used = growth === null ? muchOf(readings) : readings.slice(growth.from);
  const newest = used.at(-1);
  if (newest === undefined || (growth === null && used.length < fewestRecords())) return null;
  const bytes = used.map(reading => reading.bytes);
  return {
    /** By the newest reading. */
    bytes: newest.bytes,
    /** The least and the most of the readings that it is judged from, and how many those are. */
    leastBytes: Math.min(...bytes),
    mostBytes: Math.max(...bytes),
    readings: used.length,
    /** Of what the allocator held at the newest reading; null: not known. */
    share: newest.reserved > 0 ? newest.bytes / newest.reserved : null,
    sinceStep: growth?.since ?? used[0]?.step ?? newest.step,
    /** null: it does not grow. */
    growth,
  };
}

/** The most of the recent readings; null without one. */
export function recentPending({ pendingBytes }: Pick<LedgerSeries, 'pendingBytes'>): number | null {
  const known = [...pendingBytes].filter(bytes => !Number.isNaN(bytes)).slice(-fewestRecords());
  return known.length === 0 ? null : Math.max(...known);
}

function readingsOf({ last, pendingBytes, reservedBytes }: Parameters<typeof judgePending>[0]): Reading[] {
  return [...pendingBytes].flatMap((bytes, i) =>
    Number.isNaN(bytes) ? [] : [{ step: at(last, i), bytes, reserved: at(reservedBytes, i) }],
  );
}

/** The newest readings, of which nearly all show much; none where fewer do. */
function muchOf(readings: readonly Reading[]): Reading[] {
  const isMuch = ({ bytes, reserved }: Reading): boolean => bytes >= Math.max(T.layerBytes, T.part * reserved);
  const areMuch = (some: readonly Reading[]): boolean => some.filter(isMuch).length >= (1 - T.part) * some.length;
  if (!areMuch(readings.slice(-fewestRecords()))) return [];
  return readings.slice(readings.findIndex((first, i) => isMuch(first) && areMuch(readings.slice(i))));
}

/** Growth that reads as of `readings`. */
function growthOf(readings: readonly Reading[]): Growth | null {
  const even = evenlyRead(readings);
  const growth = layerGrowth(
    stepsOf(even),
    even.map(({ bytes }) => bytes),
  );
  if (growth === null) return null;
  const from = readings.findIndex(({ step }) => step === even[growth.from]?.step);
  return { ...growth, from, to: readings.length - 1 };
}

/** The readings at about the distance of the newest ones. The allocator is read often at first and ever more seldom: rises that are
 * read ever more seldom would look as if they came to an end. */
function evenlyRead(readings: readonly Reading[]): Reading[] {
  const newest = readings.at(-1)?.step ?? 0;
  const steps = stepsOf(readings);
  const gaps = steps.slice(1).map((step, i) => step - at(steps, i));
  const wide = gaps.slice(-fewestRecords()).sort((a, b) => b - a);
  const width = wide[1] ?? wide[0] ?? 1; // the widest one may be a single slow answer
  const cell = ({ step }: Reading): number => Math.floor((newest - step) / width);
  return readings.filter((reading, i) => {
    const next = readings[i + 1];
    return next === undefined || cell(next) !== cell(reading);
  });
}

function stepsOf(readings: readonly Reading[]): number[] {
  return readings.map(reading => reading.step);
}

/** @param cache growth of the allocator's segments beyond their tensors; null: they do not grow so */
export function pendingWords(
  { growth, share, bytes, sinceStep, readings, leastBytes, mostBytes }: Pending,
  cache: Growth | null,
): Pick<Finding, 'headline' | 'detail' | 'evidence' | 'ruledOut' | 'suggestion'> {
  const size = (amount: string): string =>
    share === null ? amount : t('{0}, {1} % of PyTorch’s cache', amount, formatCount(100 * share));
  const amounts = size(t('{0} to {1}', formatBytes(leastBytes), formatBytes(mostBytes)));
  const evidence = [
    t(
      'At the ends of steps, PyTorch’s allocator reported {0} times blocks that are freed but still in use by another stream: {1}.',
      formatCount(readings),
      amounts,
    ),
    t('They can be reused once that stream has caught up and PyTorch checks, at an allocation.'),
  ];
  if (cache !== null) evidence.push(t('Meanwhile the cache grows by {0} a step.', formatBytes(cache.perStep)));
  return {
    headline:
      growth === null
        ? t('Freed memory waits for another stream')
        : t('More and more freed memory waits for another stream'),
    detail: growth === null ? withSince(size(formatBytes(bytes)), sinceStep) : rateText(growth.perStep, sinceStep),
    evidence,
    ruledOut: [
      t('No leak: the program has given these tensors back.'),
      t('No fragmentation: the blocks are whole, but cannot be handed out yet.'),
    ],
    suggestion: t(
      'Keep such tensors until the streams are synchronized (`stream.synchronize()`, or `wait_stream` on the main stream) instead of using `record_stream`; for collectives of torch.distributed set `TORCH_NCCL_AVOID_RECORD_STREAMS=1`.',
    ),
  };
}
