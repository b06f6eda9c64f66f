// One live block as text, from a window of typed arrays.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount, formatDuration } from '../../../extension/text/format';
import { STREAM_UNKNOWN } from '../../../extension/protocol/streams';
import type { AllocationRow, AllocationWindow, Category } from '../../../extension/protocol/trace';
import { allocationRow } from '../../../extension/protocol/trace';
import { stepsText } from './counts';

export interface Block extends Omit<AllocationRow, 'address' | 'stream' | 'askedBytes' | 'pool'> {
  /** `0x7f…`. */
  address: string;
  /** null: it was not recorded. */
  stream: bigint | null;
  askedBytes: number | null;
  /** `0:3`; null: it was not recorded. */
  pool: string | null;
}

/** Row `i` of a window; null outside it. */
export function blockAt(window: AllocationWindow, i: number): Block | null {
  if (i < 0 || i >= window.rows) return null;
  const row = allocationRow(window, i);
  return {
    ...row,
    address: `0x${row.address.toString(16)}`,
    stream: row.stream === STREAM_UNKNOWN ? null : row.stream,
    askedBytes: Number.isNaN(row.askedBytes) ? null : row.askedBytes,
    pool: row.pool || null,
  };
}

/** A block by its address and time: an address is handed out again and again. */
export function blockKey(block: Pick<Block, 'process' | 'address' | 'timeNs'>): string {
  return `${block.process}/${block.address}/${block.timeNs}`;
}

/** What took the memory, by the record's kind (native/wire). */
const KINDS: Readonly<Record<number, string>> = {
  1: t('framework allocator'),
  16: t('device memory (cuMemAlloc)'),
  17: t('managed memory (cuMemAllocManaged)'),
  18: t('stream-ordered pool (cuMemAllocAsync)'),
  19: t('array (cuArrayCreate)'),
  20: t('pinned host memory'),
  21: t('registered host memory (cuMemHostRegister)'),
  22: t('physical memory (cuMemCreate)'),
  23: t('imported from another process'),
  24: t('CUDA graph memory node'),
};

/** What it is used as; '' if it has no name. */
export const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  parameter: t('parameter'),
  gradient: t('gradient'),
  optimizer: t('optimizer'),
  buffer: t('buffer'),
  activation: t('activation'),
  workspace: t('workspace'),
  other: t('other'),
  unnamed: '',
};

export function kindText(kind: number): string {
  return KINDS[kind] ?? t('kind {0}', kind);
}

const NOT_RECORDED = t('not recorded');

/** `20.00 MB (20,971,520 bytes)`. */
function exactText(bytes: number): string {
  return bytes < 1024 ? formatBytes(bytes) : t('{0} ({1} bytes)', formatBytes(bytes), formatCount(bytes));
}

/** `20.00 MB (20,971,520 bytes), as the allocator rounded it`. */
export function sizeText({ bytes, layer }: Pick<Block, 'bytes' | 'layer'>): string {
  const size = exactText(bytes);
  return layer === 'tensor'
    ? t('{0}, rounded up by the allocator', size)
    : t('{0}, as requested from the driver', size);
}

/** The bytes that the framework got a request for; empty for the driver, whose sizes are the requested ones. */
export function requestedText({ askedBytes, layer }: Pick<Block, 'askedBytes' | 'layer'>): string {
  if (layer !== 'tensor') return '';
  return askedBytes === null ? NOT_RECORDED : exactText(askedBytes);
}

/** The pool of the framework that the block belongs to; empty where it is none of a framework. */
export function poolText({ pool, layer }: Pick<Block, 'pool' | 'layer'>): string {
  if (layer !== 'tensor') return '';
  if (pool === null) return NOT_RECORDED;
  return pool === '0:0' ? t('default pool') : t('private pool {0} (CUDA graph or MemPool)', pool);
}

/** @param stream null: not known */
export function streamText(stream: bigint | null): string {
  if (stream === null) return NOT_RECORDED;
  if (stream === 0n) return t('default stream');
  if (stream === 1n) return t('legacy default stream');
  return stream === 2n ? t('per-thread default stream') : t('stream {0}', `0x${stream.toString(16)}`);
}

/** `step 12, 3 steps and 4.20 s ago`. */
export function ageText({ step, ageSteps, timeNs }: Block, nowNs: number): string {
  const time = formatDuration(nowNs - timeNs);
  return ageSteps === 0
    ? t('this step, {0} ago', time)
    : t('step {0}, {1} and {2} ago', formatCount(step), stepsText(ageSteps), time);
}
