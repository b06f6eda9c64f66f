import { remembered } from '../base/maps';
import type { RecordedRun } from './recordedRun';
import { REST_BYTES, ROUNDING } from './requestSizes';

// Sums over many rows, such as gradients of biases, get a buffer for their parts: it grows with the rows until all of the GPU works on
// them (`setReduceConfig` of ATen/native/cuda/Reduce.cuh: 4 bytes × 256² for each 512 threads that the GPU runs at once).

/** Multiprocessors, and threads that each runs at once; of NVIDIA's data sheets and the table of compute capabilities. */
const GPUS: readonly (readonly [name: RegExp, multiprocessors: number, threads: number])[] = [
  [/\bB200\b|\bGB200\b/, 148, 2048],
  [/\bH100 PCIe\b/, 114, 2048],
  [/\bG?H[128]00\b|\bGH200\b|\bH20\b/, 132, 2048],
  [/\bA[18]00\b/, 108, 2048],
  [/\bA30\b/, 56, 2048],
  [/\bV100\b/, 80, 2048],
  [/\bT4\b/, 40, 1024],
  [/\bL40S?\b|\bRTX 6000 Ada\b/, 142, 1536],
  [/\bL4\b/, 58, 1536],
  [/\bA40\b|\bRTX A6000\b|\bRTX 3090 Ti\b/, 84, 1536],
  [/\bA10G\b/, 80, 1536],
  [/\bA10\b/, 72, 1536],
  [/\bRTX 3090\b/, 82, 1536],
  [/\bRTX 4090\b/, 128, 1536],
  [/\bRTX 5090\b/, 170, 1536],
];
/** Bytes of a buffer for each thread that the GPU runs at once. */
const THREAD_BYTES = 512;
/** Threads of a block, at the most (`max_reduce_threads`); of a warp. */
const [BLOCK, WARP] = [512, 32];
/** Values that a thread adds up: with more than the most of them, rows are shared by blocks, down to the fewest. */
const [FEWEST_VALUES, MOST_VALUES] = [16, 256];
/** Places in the order of a run: a buffer, and the flags of its sum, are freed before anything else is allocated. */
const BRIEF = 9;
const FLAG_BYTES = 4096;
const PRECISIONS = [2, 4];
/** Sizes of tensors of a module in all steps. */
const MOST_SIZES = 64;

/** The largest such buffer; Infinity: the GPU is not known. */
export function largestBuffer(gpu: string): number {
  const [, multiprocessors, threads] = GPUS.find(([name]) => name.test(gpu)) ?? ['', Infinity, 0];
  return multiprocessors * Math.max(1, threads) * THREAD_BYTES;
}

/** Of a sum of `rows` by `columns` in float, on a GPU with this largest buffer; 0: it needs none. */
export function bufferBytes(columns: number, rows: number, largest: number): number {
  const vector = columns % 4 === 0 ? 4 : columns % 2 === 0 ? 2 : 1;
  const most = BLOCK / vector;
  const [across, down] = [columns / vector, rows].map(count => Math.min(most, 2 ** Math.floor(Math.log2(count))));
  if (across === undefined || down === undefined || across < 1 || down < 1) return 0;
  const height = Math.min(down, most / Math.min(across, WARP));
  const width = Math.min(across, most / height);
  const values = Math.ceil(rows / height);
  const grid = Math.ceil(columns / vector / width);
  const blocks = Math.floor(largest / THREAD_BYTES / (width * height));
  if (values < MOST_VALUES || grid > blocks) return 0;
  const least = Math.ceil(values / MOST_VALUES);
  const shared = Math.max(Math.min(Math.ceil(blocks / grid), Math.ceil(values / FEWEST_VALUES)), least);
  return shared > 1 ? 4 * columns * shared * width * vector : 0;
}

/** What a buffer is for: a sum of so many rows of so many columns. */
export interface Sum {
  columns: number;
  rows: number;
}

/** Columns that a result of so many bytes can have: all of it first, then multiples of 64, then of 8. */
function columnsOf(result: number): number[] {
  const all = PRECISIONS.flatMap(precision =>
    Array.from({ length: ROUNDING / precision / 8 }, (_, at) => Math.floor(result / precision / 8 - at) * 8),
  );
  const isWhole = (columns: number): boolean => PRECISIONS.some(precision => columns * precision === result);
  const rankOf = (columns: number): number => (isWhole(columns) ? 0 : columns % 64 === 0 ? 1 : 2);
  return all.filter(columns => columns > 0).toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** By buffer the sum that it is for: the one of a tensor of the same module that explains its size. `sizes`: of the requests. */
export function sumsOf(run: RecordedRun, sizes: Float64Array, exact: Uint8Array, largest: number): Map<number, Sum> {
  const tensors = new Map<string, Set<number>>();
  const ofModule = (at: number): string => `${run.module[at]}`;
  const keyOf = (at: number): string => `${run.step[at]} ${ofModule(at)}`;
  for (let at = 0; at < run.count; at++)
    for (const key of [keyOf(at), ofModule(at)]) remembered(tensors, key, () => new Set()).add(sizes[at] ?? 0);
  const known = new Map<string, Sum | undefined>();
  const found = new Map<number, Sum>();
  for (let at = 1; at < run.count; at++) {
    if (!isBuffer(run, at)) continue;
    const [result, bytes, open] = [sizes[at - 1] ?? 0, run.bytes[at] ?? 0, exact[at] === 1 ? 0 : REST_BYTES];
    // Those of the same step first; in texts of any length, those of others say nothing.
    const [own, all] = [keyOf(at), ofModule(at)].map(key => [...(tensors.get(key) ?? [])]);
    const beside = [...(own ?? []), ...(all === undefined || all.length > MOST_SIZES ? [] : all)];
    const explains = ({ columns, rows }: Sum): boolean => {
      const needed = bufferBytes(columns, rows, largest);
      return needed > 0 && needed <= bytes && needed >= bytes - open;
    };
    const find = (): Sum | undefined => {
      for (const columns of columnsOf(result))
        for (const tensor of beside)
          for (const precision of PRECISIONS) {
            const sum = { columns, rows: Math.floor(tensor / columns / precision) };
            if (tensor - sum.rows * columns * precision < ROUNDING && explains(sum)) return sum;
          }
      return undefined;
    };
    const sum = remembered(known, `${keyOf(at)} ${result} ${bytes}`, find);
    if (sum !== undefined) found.set(at, sum);
  }
  return found;
}

/** Whether an allocation is such a buffer: the flags of the sum come right after it, and both are freed at once. */
export function isBuffer({ begin, end, bytes }: RecordedRun, at: number): boolean {
  const [life, flags] = [at, at + 1].map(one => (end[one] ?? Infinity) - (begin[one] ?? 0));
  return (life ?? Infinity) <= BRIEF && (flags ?? Infinity) <= BRIEF && (bytes[at + 1] ?? Infinity) <= FLAG_BYTES;
}
