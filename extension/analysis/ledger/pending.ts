import type { LedgerSeries } from '../../protocol/trace';
import type { Growth } from '../series/growth';
import { fewestRecords } from '../series/records';
import { at } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
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
