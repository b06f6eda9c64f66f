// What `npm test` leaves to `npm run test:long`, which sets GPU_MEMTRACE_ROUNDS: proofs of what a shorter test shows as well.
export const LONG = process.env.GPU_MEMTRACE_ROUNDS !== undefined;

/**
 * `define` (test, it, describe) for what runs in the long run alone: `inLong(it)('…', async () => { … })`. `define.left` gets the
 * name of what does not run.
 */
export const inLong = define => (LONG ? define : (define.left ?? (() => {})));
