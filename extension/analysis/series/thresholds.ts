/**
 * Every number that a verdict depends on. The first seven are words: what is "most of it" or "a few" is the same wherever it is used. Where
 * each is used, and why it is as it is, stands in README.md.
 */
export const THRESHOLDS = {
  /** A few: steps of a warm-up, blocks that show a holder, lines that show a graph. */
  few: 3,
  /** Many: newest steps that are the present, rises that nothing makes which takes blocks out as well. */
  many: 64,
  /** So many times as usual is out of the usual. */
  times: 4,
  /** Most of it. */
  most: 0.5,
  /** A part that matters; without it, nearly all. */
  part: 0.25,
  /** A part that does not. */
  little: 0.1,
  /** So seldom that it does not count: of steps, of events, of runs. */
  rare: 0.01,

  /** How often levels without a trend may make as many records. */
  chance: 0.002,
  /** Standard deviations beyond which records thin out, and beyond which a level drifts: chance does neither. */
  thinning: 2.5,
  drift: 3.5,
  /** Parts of a series that are compared with each other where a level wanders. */
  parts: 12,

  /** Most bytes that PyTorch's allocator adds to a block (its kSmallSize: a rest that it does not cut off). */
  smallBytes: 1 << 20,
  /** Growth of a layer that is worth a word: half of that, the allocator's 20 MB segments make by themselves. */
  layerBytes: 32 << 20,
  /** Robust deviations above a line's median. Its sizes may spread as they like: of exponential ones 2 in 1,000 are above 8. */
  deviations: 8,
  /** Slices of time that growth must have lasted where no steps are known: setting up takes many. */
  timeSlices: 160,
  /** A year: what takes longer to fill the device never matters. */
  neverSeconds: 31_536_000,

  /** An automatic query for holders pauses the program for at most so long; one takes 60 to 130 ms. */
  mostPauseMs: 500,
  leastPauseMs: 100,
};
