import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../protocol/format';
import type { LedgerSeries } from '../../protocol/steps';
import type { Finding } from '../../protocol/verdicts';
import { judgeGrowth, type Growth } from '../series/growth';
import { fewestRecords } from '../series/records';
import { at } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import { rateText } from '../words';

// Memory that waits for a stream: PyTorch was given the tensor back, but another stream still uses its block (`record_stream`), so
// that the block cannot be handed out again. Known of the steps at whose end the allocator was asked.

/** Much of it, or more and more. */
export interface Pending {
  /** By the newest reading. */
  bytes: number;
  /** The least and the most of the readings that it is told from, and how many those are. */
  leastBytes: number;
  mostBytes: number;
  readings: number;
  /** Of what the allocator held at the newest reading; null: not known. */
  share: number | null;
  sinceStep: number;
  /** null: it does not grow. */
  growth: Growth | null;
}

interface Reading {
  step: number;
  bytes: number;
  reserved: number;
}

/** null: little waits, or only now and then; or nobody asked. */
export function judgePending(series: Pick<LedgerSeries, 'last' | 'pendingBytes' | 'reservedBytes'>): Pending | null {
  const readings = readingsOf(series);
  const from = beginOfMuch(readings);
  const growth = growthOf(readings);
  const used = growth === null ? readings.slice(from) : readings.slice(growth.from);
  const newest = used.at(-1);
  if (newest === undefined || (growth === null && used.length < fewestRecords())) return null;
  const bytes = used.map(reading => reading.bytes);
  return {
    bytes: newest.bytes,
    leastBytes: Math.min(...bytes),
    mostBytes: Math.max(...bytes),
    readings: used.length,
    share: newest.reserved > 0 ? newest.bytes / newest.reserved : null,
    sinceStep: growth?.since ?? used[0]?.step ?? newest.step,
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

/** Index of the first of the newest readings that all tell of much, but for a few of them. */
function beginOfMuch(readings: readonly Reading[]): number {
  let begin = readings.length;
  let few = 0;
  for (let i = readings.length - 1; i >= 0; i--) {
    const { bytes, reserved } = readings[i] ?? { bytes: 0, reserved: 0 };
    const count = readings.length - i;
    if (bytes < Math.max(T.layerBytes, T.part * reserved)) few++;
    else if (few <= T.part * count) begin = i;
    if (few > T.part * Math.max(count, fewestRecords())) break;
  }
  return begin;
}

/** Growth that reads as of `readings`. */
function growthOf(readings: readonly Reading[]): Growth | null {
  const even = evenlyRead(readings);
  const values = even.map(reading => reading.bytes);
  const growth = judgeGrowth({ steps: stepsOf(even), values, lag: 0 });
  if (growth.state !== 'growing') return null;
  if (at(values, values.length - 1) - at(values, growth.from) < T.layerBytes) return null;
  const from = readings.findIndex(reading => reading.step === even[growth.from]?.step);
  return { ...growth, from, to: readings.length - 1 };
}

/** The readings at about the distance of the newest ones. The allocator is asked often at first and ever more seldom: rises that are
 * read ever more seldom would look as if they came to an end. */
function evenlyRead(readings: readonly Reading[]): Reading[] {
  const newest = readings.at(-1)?.step ?? 0;
  const gaps = gapsOf(stepsOf(readings), [...readings.keys()]);
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
    detail:
      growth === null
        ? t('{0}, since step {1}', size(formatBytes(bytes)), formatCount(sinceStep))
        : rateText(growth.perStep, sinceStep),
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

/** Steps from each event to the next. */
function gapsOf(steps: readonly number[], events: readonly number[]): number[] {
  return events.slice(1).map((event, i) => at(steps, event) - at(steps, at(events, i)));
}
