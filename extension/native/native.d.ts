// What the native addon (native/addon) gives to TypeScript; only `engine` loads it. Answers are copied into buffers that
// JavaScript owns.
import type { LifetimeBatch, Site, TraceInfo, TraceSource } from '../protocol/trace';

export interface NativeTrace extends TraceSource {
  /** Cheap: revision only. */
  revision(): number;
  /**
   * Calls `found` once there is something new: with true when all that was written was read, with false where that takes longer than
   * 20 ms, and continues. From the first call on the trace stands still behind a true until the next call, except for `settle`: what is
   * queried in between is of one moment. A second call takes the place of the first.
   */
  next(found: (caughtUp: boolean) => void): void;
  /**
   * Resolves when all that is in the logs now has been read.
   * @param later the same trace, read further: the names that it has for blocks that are alive here, such as parameters, are taken
   */
  settle(later?: NativeTrace): Promise<void>;
  /** Writes one *.gputrace file (through a temporary file and a rename). Rejects with a sentence. */
  save(file: string, sessionJson: string): Promise<void>;
  /** Stops reading. Queries afterwards throw. */
  close(): void;
}

export interface OpenOptions {
  /**
   * Session time in ns, as in TraceInfo. The session then has the events up to this time (inclusive) of the processes that
   * had begun by then, and nothing later: every answer is that of this moment. `info().live` is false once all of that has
   * been read. Not cut by time: the losses that the processes counted themselves, and what the launcher left.
   */
  untilNs?: number;
}

export interface LifetimeOptions extends OpenOptions {
  /** Allocations that ended before this session time are left out. */
  fromNs?: number;
}

/** Hands out every allocation of a trace once. What it keeps is bounded by the live allocations and one batch. */
export interface LifetimeCursor {
  /**
   * The next `count` allocations, read on another thread; fewer at the end; null after it. Rejects while another call waits,
   * and once the cursor was closed. Of a trace that still grows the end is what was there when `next` came to it.
   */
  next(count: number): Promise<LifetimeBatch | null>;
  /** Before the first `next`: gives what is alive at the end the names that it got later, from the whole trace. */
  addNamesOf(later: NativeTrace): void;
  /** Of what was read so far: after the last batch of the whole (losses by cause, failures in `outOfMemory`). */
  info(): TraceInfo;
  /** The sites that batches name. Their numbers are those of a session over the same trace as far as `Site.id` is shared. */
  site(id: number): Site | null;
  /** Stops reading. Calls afterwards throw. */
  close(): void;
}

/** Calls of PyTorch's allocator on one GPU, in their order; the columns `allocation` and `bytes` have a row each. */
export interface AllocatorCalls {
  /** Its number. Each is allocated once, and freed at most once. */
  allocation: Uint32Array;
  /** What is allocated; 0: it is freed; below 0: the cache goes back to the driver. */
  bytes: Float64Array;
  /** By allocation: which stream or pool of graphs serves it, by `findPools`; absent rows: 0. */
  pool: Uint32Array;
  /** By allocation: where it was; empty: nobody knows. */
  address: Float64Array;
  /** Segments that were there before the first call (`pool` as by `findPools`), and how many of the first calls are of what lay in them. */
  earlier?: { calls: number; address: Float64Array; bytes: Float64Array; pool: Uint32Array };
}

/** As in PYTORCH_CUDA_ALLOC_CONF; what is absent is PyTorch's default. */
export interface AllocatorSettings {
  expandableSegments?: boolean;
  maxSplitBytes?: number;
  maxUnsplitRoundingBytes?: number;
  roundupPower2Divisions?: number;
  garbageCollectionThreshold?: number;
  /** What the allocator may hold. */
  limitBytes?: number;
  /** Of one expandable segment. */
  addressSpaceBytes?: number;
}

export interface AllocatorReplay {
  /** After each call. */
  reservedBytes: Float64Array;
  reservedPeakBytes: number;
  allocatedPeakBytes: number;
  allocatedPeakCall: number;
  /** How often the cache was given back because a segment did not fit. */
  retries: number;
  /** Where memory ran out: nothing behind that call was replayed. */
  failedCall: number | null;
}

/** By allocation. */
export interface AllocatorPools {
  pool: Uint32Array;
  /** By earlier segment. */
  segmentPool: Uint32Array;
  /** 1: the block is what was requested; 0: it may be up to 1 MiB more, which PyTorch does not cut off. */
  exact: Uint8Array;
  /** Places that no such rule gives. */
  unexplained: number;
}

export interface NativeAddon {
  /** Of the product, as it was when this was built. */
  version: string;
  /** Opens a trace directory (followed while it grows) or a saved *.gputrace. Throws an Error with one clear sentence. */
  open(path: string, options?: OpenOptions): NativeTrace;
  /** Opens a trace to hand out its allocations. Throws as `open` does. */
  openLifetimes(path: string, options?: LifetimeOptions): LifetimeCursor;
  /**
   * Sets the control word in a trace directory (creates the file when absent). `start`: what switches it on by itself while it is off,
   * the end of a training step or that many bytes in a GPU's cache.
   */
  setRecording(directory: string, on: boolean, start?: { step?: number; reservedBytes?: number }): void;
  /** The words of a command line, each secret in them as `***`: values of `--token`, `KEY=`, passwords in URLs, keys of services. */
  maskSecrets(words: readonly string[]): string[];
  /**
   * Turns a PyTorch memory snapshot into a *.gputrace (written through a temporary file and a rename). Nothing in the pickle is
   * executed. Rejects with a sentence.
   */
  importSnapshot(pickle: string, gputrace: string): Promise<void>;
  /** What PyTorch's allocator would do with these calls. */
  replayAllocator(calls: AllocatorCalls, settings: AllocatorSettings): AllocatorReplay;
  /** Which stream or pool served each allocation, and each earlier segment, by where it lay. Not for expandable segments. */
  findPools(calls: AllocatorCalls, settings: AllocatorSettings): AllocatorPools;
  /**
   * Starts a program (as a shell finds it) with this process's folder and group; `variables`: its whole environment, as
   * NAME=value; `streams`: the descriptors that become its stdin, stdout and stderr. `error`: 0, or errno. While it runs it gets the signals that reach this process alone, also
   * where JavaScript is busy; afterwards they end this process as `endOnSignals` does. `ended`: its status as a shell gives it.
   */
  startProgram(
    words: string[],
    variables: string[],
    lastWord: string,
    streams: [number, number, number],
  ): { error: number; pid: number; ended: Promise<number> };
  /**
   * From here on SIGTERM, SIGINT, SIGHUP and SIGQUIT end this process within a second, a second one at once, also where it is
   * busy; `lastWord` is then written to stderr.
   */
  endOnSignals(lastWord: string): void;
}
