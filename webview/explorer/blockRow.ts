// One live block as text, from a window of typed arrays.
import { formatBytes, formatCount, formatDuration, formatPlural } from '../../extension/protocol/format';
import type { AllocationWindow, Layer, ProcessInfo } from '../../extension/protocol/trace';
import type { Category } from '../../extension/protocol/steps';

export interface Block {
  /** `0x7f…`. */
  address: string;
  bytes: number;
  device: number;
  process: number;
  thread: number;
  layer: Layer;
  site: number;
  timeNs: number;
  stream: bigint;
  kind: number;
  step: number;
  ageSteps: number;
  name: string;
  category: Category;
}

/** Row `i` of a window; null outside it. */
export function blockAt(window: AllocationWindow, i: number): Block | null {
  if (i < 0 || i >= window.rows) return null;
  return {
    address: `0x${window.address[i]!.toString(16)}`,
    bytes: window.bytes[i]!,
    device: window.device[i]!,
    process: window.process[i]!,
    thread: window.thread[i]!,
    layer: window.layer[i] ?? 'tensor',
    site: window.site[i]!,
    timeNs: window.timeNs[i]!,
    stream: window.stream[i]!,
    kind: window.kind[i]!,
    step: window.step[i]!,
    ageSteps: window.ageSteps[i]!,
    name: window.name[i] ?? '',
    category: window.category[i] ?? 'unnamed',
  };
}

/** A block by its address and time: an address is handed out again and again. */
export function blockKey(block: Pick<Block, 'process' | 'address' | 'timeNs'>): string {
  return `${block.process}/${block.address}/${block.timeNs}`;
}

/** What took the memory, by the record's kind (native/wire). */
const KINDS: Readonly<Record<number, string>> = {
  1: 'the framework’s allocator',
  16: 'device memory (cuMemAlloc)',
  17: 'managed memory (cuMemAllocManaged)',
  18: 'stream-ordered pool (cuMemAllocAsync)',
  19: 'array (cuArrayCreate)',
  20: 'pinned host memory',
  21: 'host memory, pinned in place',
  22: 'physical memory (cuMemCreate)',
  23: 'imported from another process',
  24: 'memory node of a graph',
};

export function kindText(kind: number): string {
  return KINDS[kind] ?? `kind ${kind}`;
}

/** `20.00 MB (20,971,520 bytes), as the allocator rounded it`: what a framework was asked for is not recorded. */
export function sizeText({ bytes, layer }: Pick<Block, 'bytes' | 'layer'>): string {
  const size = bytes < 1024 ? formatBytes(bytes) : `${formatBytes(bytes)} (${formatCount(bytes)} bytes)`;
  return `${size}, as ${layer === 'tensor' ? 'the allocator rounded it' : 'asked of the driver'}`;
}

export function streamText(stream: bigint): string {
  if (stream === 0n) return 'default stream';
  if (stream === 1n) return 'legacy default stream';
  return stream === 2n ? 'per-thread default stream' : `stream 0x${stream.toString(16)}`;
}

/** `3 steps`, or `this step`. */
export function stepsText(ageSteps: number): string {
  return ageSteps === 0 ? 'this step' : formatPlural(ageSteps, 'step');
}

/** `step 12, 3 steps and 4.20 s ago`. */
export function ageText({ step, ageSteps, timeNs }: Block, nowNs: number): string {
  const time = formatDuration(nowNs - timeNs);
  return ageSteps === 0
    ? `this step, ${time} ago`
    : `step ${formatCount(step)}, ${stepsText(ageSteps)} and ${time} ago`;
}

export function deviceText(device: number): string {
  return device < 0 ? 'host' : `gpu_${device}`;
}

/** `python:4711`, with its process where there are several. */
export function threadText({ process, thread }: Block, processes: readonly ProcessInfo[]): string {
  const owner = processes.find(one => one.index === process);
  const found = owner?.threads.find(one => one.index === thread);
  const name = found ? `${found.name}:${found.tid}` : `thread ${thread}`;
  return processes.length > 1 && owner ? `${name} of process ${owner.pid}` : name;
}
