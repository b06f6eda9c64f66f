// Ranks of a job as their summaries tell them, with noise of a few percent, for tests of what is said of them.
import type { RankFinding, RankLine, RankSummary } from '../../../extension/protocol/job';

export const MB = 1 << 20;
export const GB = 1 << 30;

/** The lines of the script, and what each has at most. */
const LINES: [line: number, name: string, bytes: number][] = [
  [12, 'Model.__init__', 8 * GB],
  [31, 'Block.forward', 20 * GB],
  [34, 'Block.forward', 9 * GB],
  [58, 'Adam.step', 16 * GB],
  [71, 'loss_of', 2 * GB],
];
export const ACTIVATIONS = 31;
export const LOSS = 71;

/** Numbers in 0 … 1, the same for the same seed. */
export function chance(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Normal, of deviation 1. */
const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

export function makeRank(rank: number, size: number, part: Partial<RankSummary> = {}, noise = () => 1): RankSummary {
  const host = `n${Math.floor(rank / 8)}`;
  const all = noise();
  const lines = LINES.map(([line, name, bytes]): RankLine => {
    const peakBytes = Math.round(bytes * all * noise());
    return {
      ...{ file: '/job/train.py', line, function: name },
      ...{ peakBytes, liveBytes: 0, bytesPerStep: 0, state: 'plateau' },
    };
  });
  const peakBytes = lines.reduce((sum, line) => sum + line.peakBytes, 0);
  const of = (bytes: number | null): (number | null)[] => [bytes, bytes];
  return {
    ...{
      version: 1,
      run: 'job-1',
      host,
      rank,
      localRank: rank % 8,
      nodeRank: Math.floor(rank / 8),
      worldSize: size,
      localWorldSize: 8,
    },
    ...{ role: '', mesh: {}, gpus: {}, pid: 4000 + rank, command: ['train.py'], branch: 'main', commit: 'abc' },
    ...{
      startedMs: 1e12,
      durationSeconds: 3600,
      live: false,
      exitCode: 0,
      simulated: false,
      lost: { events: 0, byCause: {} },
    },
    ...{
      device: 0,
      gpu: `GPU-${rank}`,
      gpuName: 'H100',
      totalBytes: 80 * GB,
      layer: 'tensor',
      stepSource: 'optimizer',
    },
    ...{ steps: 1000, peakBytes, outOfMemoryCount: 0, lines, findings: [], trace: null },
    series: {
      last: [500, 1000],
      peak: of(peakBytes),
      live: of(peakBytes),
      reserved: of(peakBytes),
      outside: of(480 * MB),
      foreign: of(0),
    },
    ...part,
  };
}

/** A job of so many ranks on hosts of eight; of four stages where there are 64. Each figure is off by 2 % (deviation). */
export function makeJob(size: number, seed: number, deviation = 0.02): RankSummary[] {
  const random = chance(seed);
  const noise = (): number => 1 + (deviation / Math.SQRT2) * normal(random);
  return Array.from({ length: size }, (_, rank) => {
    const mesh: RankSummary['mesh'] = size < 64 ? {} : { pp: [Math.floor(rank / 16), 4], dp: [rank % 16, 16] };
    return makeRank(rank, size, { mesh }, noise);
  });
}

const leak: RankFinding = {
  ...{
    verdict: 'leak',
    class: 'graph',
    cause: null,
    title: 'keeps each step’s graph',
    bytesPerStep: 4 * MB,
    bytes: 4 * GB,
  },
  ...{ sinceStep: 3, confidence: 0.99, suggestion: 'Write loss.detach().' },
  ...{ file: '/job/train.py', line: 90, function: 'train', holder: '__main__.history[...]' },
};

/** Keeps what the loss's line allocates, by another line, as a graph is kept; 20 GB by the end. */
export function leaks(rank: RankSummary, finding: Partial<RankFinding> = {}): RankSummary {
  const kept = 20 * GB;
  const lines = rank.lines.map(line =>
    line.line === LOSS
      ? { ...line, peakBytes: line.peakBytes + kept, liveBytes: kept, bytesPerStep: 4 * MB, state: 'growing' as const }
      : line,
  );
  return { ...rank, lines, peakBytes: rank.peakBytes + kept, findings: [{ ...leak, ...finding }] };
}

/** Holds `times` as many activations. */
export function largerBatch(rank: RankSummary, times: number): RankSummary {
  let more = 0;
  const lines = rank.lines.map(line => {
    if (line.function !== 'Block.forward') return line;
    more += line.peakBytes * (times - 1);
    return { ...line, peakBytes: line.peakBytes * times };
  });
  return { ...rank, lines, peakBytes: rank.peakBytes + more };
}

/** Another process holds so much of its GPU at the end. */
export function visited(rank: RankSummary, bytes: number): RankSummary {
  return { ...rank, series: { ...rank.series, foreign: [0, bytes] } };
}
