// Cases of faults.mjs: threads that come and go, or wait, within a budget.
import { readFileSync } from 'node:fs';

/** A million and more events of threads that come and go, or wait, within a budget of 24 MB: none is lost. */
const crowd = (name, threads, pairs, ...shape) => ({
  [name]: {
    job: 'crowd',
    arguments: ['--waits', '--threads', threads, '--pairs', pairs, ...shape].map(String),
    words: ['--detail', '2MB', '--budget', '24MB'],
    folds: true,
    judge: run => {
      const { lost, totals } = JSON.parse(readFileSync(run.report, 'utf8'));
      const [{ allocations, frees }] = totals.filter(row => row.layer === 'tensor');
      if (lost.events > 0 || frees !== allocations || allocations < threads * pairs)
        throw new Error(`${lost.events} events were lost; ${allocations} allocations, ${frees} frees`);
    },
  },
});

export const CROWDS = {
  ...crowd('5,000 threads in turn', 5000, 100),
  ...crowd('70,000 threads in turn', 70_000, 15),
  ...crowd('threads that end amid a chunk', 833, 600),
  ...crowd('a hundred threads at once', 5000, 100, '--at-once', 100),
  ...crowd('a thousand threads at once', 5000, 100, '--at-once', 1000),
  ...crowd('a pool of a hundred threads', 5000, 100, '--at-once', 100, '--stay'),
};
