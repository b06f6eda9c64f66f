import type { RecordedRun } from './recordedRun';

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
const BYTES = 2 ** 20;
const THREADS = 2048;
/** Places in the order of a run: a buffer, and the flags of its sum, are freed before anything else is allocated. */
const BRIEF = 9;
const FLAG_BYTES = 4096;

/** The largest such buffer; Infinity: the GPU is not known. */
export function largestBuffer(gpu: string): number {
  const [, multiprocessors, threads] = GPUS.find(([name]) => name.test(gpu)) ?? ['', Infinity, THREADS];
  return (multiprocessors * threads * BYTES) / THREADS;
}

/** Whether an allocation is such a buffer: the flags of the sum come right after it, and both are freed at once. */
export function isBuffer({ begin, end, bytes }: RecordedRun, at: number): boolean {
  const [life, flags] = [at, at + 1].map(one => (end[one] ?? Infinity) - (begin[one] ?? 0));
  return (life ?? Infinity) <= BRIEF && (flags ?? Infinity) <= BRIEF && (bytes[at + 1] ?? Infinity) <= FLAG_BYTES;
}
