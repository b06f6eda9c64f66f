// What `npm test` leaves to `npm run test:long`, which sets GPU_MEMTRACE_ROUNDS: proofs of what a shorter test shows as well.
export const LONG = process.env.GPU_MEMTRACE_ROUNDS !== undefined;

/** `define` (test, it, describe) for what runs in the long run alone: `inLong(it)('…', async () => { … })`. */
export const inLong = define => (LONG ? define : () => {});
