import { firstWhere } from '../base/bisect';

/** Sizes (bytes) of the blocks of a run, and whether each is what was requested. */
interface Sized {
  run: { count: number; bytes: Float64Array };
  exact: Uint8Array;
}

/** The size that a block of unknown request most likely has: that of the most tensors of which it is known, in both runs. */
export class SizeVotes {
  private readonly own: Map<number, number>;
  private readonly there: Map<number, number>;
  private readonly sorted: number[];

  constructor(own: Sized, there: Sized) {
    this.own = countsOf(own);
    this.there = countsOf(there);
    this.sorted = [...this.own.keys()].sort((a, b) => a - b);
  }

  /** Within bounds, as a size of the first run; in the second it is that by `scale`. null: no tensor has such a size in both. */
  best({ least, most }: { least: number; most: number }, scale: number): { bytes: number; votes: number } | null {
    let best = null;
    let at = firstWhere(this.sorted.length, middle => (this.sorted[middle] ?? 0) >= least);
    for (let bytes = this.sorted[at]; bytes !== undefined && bytes <= most; bytes = this.sorted[++at]) {
      const there = this.there.get(Math.ceil(bytes / scale / ROUNDING) * ROUNDING) ?? 0;
      const votes = Math.min(this.own.get(bytes) ?? 0, there);
      if (votes > (best?.votes ?? 0)) best = { bytes, votes };
    }
    return best;
  }
}

const ROUNDING = 512;

function countsOf({ run, exact }: Sized): Map<number, number> {
  const counts = new Map<number, number>();
  for (let at = 0; at < run.count; at++) {
    const bytes = run.bytes[at] ?? 0;
    if (exact[at] === 1) counts.set(bytes, (counts.get(bytes) ?? 0) + 1);
  }
  return counts;
}
