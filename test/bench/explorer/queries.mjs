// What the page asks, on a trace with many events: node test/bench/explorer/queries.mjs TRACE.gputrace
// Such a trace: gpu-memtrace run --simulate-gpu -o many.gputrace -- python3 test/bench/explorer/many.py
import { inRoot } from '../../project/root.mjs';

const ROUNDS = 40;

function load() {
  const module = { exports: {} };
  process.dlopen(module, inRoot('dist/native/gpu_memory_trace.node'));
  return module.exports;
}

const began = performance.now();
const session = load().open(process.argv[2]);
const openedMs = performance.now() - began;
await session.settle();
const readMs = performance.now() - began;
const info = session.info();
const [total] = info.totals.filter(one => one.layer === 'tensor');
const window = { layer: 'tensor', descending: true, from: 0, to: 60 };
const sites = more => () => session.sites({ ...window, groupBy: 'line', sort: 'liveBytes', ...more });
const allocations = more => () => session.allocations({ ...window, sort: 'bytes', ...more });
const half = info.durationNs / 2;

const questions = {
  info: () => session.info(),
  'lines by live bytes': sites({}),
  'lines by growth, window in the middle': sites({ sort: 'growth', from: 2000, to: 2060 }),
  stacks: sites({ groupBy: 'site' }),
  'functions by name': sites({ groupBy: 'function', sort: 'label' }),
  threads: sites({ groupBy: 'thread' }),
  'lines, text filter': sites({ filter: 'layers_03' }),
  'lines, >100KB': sites({ filter: '>100KB' }),
  'lines, age>5steps': sites({ filter: 'age>5steps' }),
  'lines, of the second half': sites({ bornFromNs: half, bornToNs: info.durationNs }),
  'blocks by bytes': allocations({}),
  'blocks by age, window in the middle': allocations({ sort: 'age', from: 50_000, to: 50_060 }),
  'blocks of a line': allocations({ site: session.sites({ ...window, groupBy: 'site', sort: 'liveBytes' }).id[0] }),
  'timeline, 1,000 points': () =>
    session.timeline({ series: 'tensor', fromNs: 0, toNs: info.durationNs, buckets: 1000 }),
  'timeline, a hundredth of the run': () =>
    session.timeline({ series: 'tensor', fromNs: half, toNs: half * 1.02, buckets: 1000 }),
  'a stack': () => session.site(1),
};

const rows = {};
for (const [name, ask] of Object.entries(questions)) {
  const first = performance.now();
  try {
    ask();
  } catch (error) {
    rows[name] = { 'p50 ms': error.message };
    continue;
  }
  const firstMs = performance.now() - first;
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    ask();
    return performance.now() - start;
  }).sort((a, b) => a - b);
  const at = part => times[Math.floor((times.length - 1) * part)].toFixed(2);
  rows[name] = { 'p50 ms': at(0.5), 'p95 ms': at(0.95), 'first ms': firstMs.toFixed(2) };
}
console.log(
  `${info.events} events, ${total?.liveCount} live blocks; opened in ${openedMs.toFixed(0)} ms, read in ${readMs.toFixed(0)} ms`,
);
console.table(rows);
session.close();
