import { firstWhere } from '../base/bisect';
import { ROUNDING } from './requestSizes';

/** Sizes (bytes) of the blocks of a run, and whether each is what was requested. */
interface Sized {
  run: { count: number; bytes: Float64Array };
  exact: Uint8Array;
}

/** The size that a block of unknown request most likely has: that of the most tensors of which it is known, in both runs. */
export class SizeVotes {
  private readonly own: Counts;
  private readonly there: Counts;
  private readonly sorted: number[];

  /** `grows`: by allocation of each, 1: it grows with the batch. */
  constructor(own: Sized, there: Sized, grows: readonly [Uint8Array, Uint8Array]) {
    this.own = countsOf(own, grows[0]);
    this.there = countsOf(there, grows[1]);
    this.sorted = [...this.own.all.keys()].sort((a, b) => a - b);
  }

  /** Within bounds, as a size of the first run; in the second it is that by `scale`. null: no tensor has such a size in both. */
  best({ least, most }: { least: number; most: number }, scale: number): { bytes: number; votes: number } | null {
    // Only what grows says anything about that.
    const counts = scale === 1 ? 'all' : 'growing';
    const [own, there] = [this.own[counts], this.there[counts]];
    let best = null;
    let at = firstWhere(this.sorted.length, middle => (this.sorted[middle] ?? 0) >= least);
    for (let bytes = this.sorted[at]; bytes !== undefined && bytes <= most; bytes = this.sorted[++at]) {
      const others = there.get(Math.ceil(bytes / scale / ROUNDING) * ROUNDING) ?? 0;
      const votes = Math.min(own.get(bytes) ?? 0, others);
      if (votes > (best?.votes ?? 0)) best = { bytes, votes };
    }
    return best;
  }
}

/** Tensors by their bytes. */
interface Counts {
  all: Map<number, number>;
  growing: Map<number, number>;
}

function countsOf({ run, exact }: Sized, grows: Uint8Array): Counts {
  const [all, growing] = [new Map<number, number>(), new Map<number, number>()];
  for (let at = 0; at < run.count; at++) {
    const bytes = run.bytes[at] ?? 0;
    if (exact[at] !== 1) continue;
    all.set(bytes, (all.get(bytes) ?? 0) + 1);
    if (grows[at] === 1) growing.set(bytes, (growing.get(bytes) ?? 0) + 1);
  }
  return { all, growing };
}
