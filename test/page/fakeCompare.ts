// What the fake host answers about two moments: a mark and now, in which lines grew, came, went or stayed.
import type {
  CompareQuery,
  ComparedRow,
  ComparedTrace,
  Comparison,
  RunComparison,
} from '../../extension/protocol/requests/compareRequests';

const MB = 1024 ** 2;
/** Bytes and blocks at A and at B, in MB. */
const HELD: readonly (readonly [string, number, number, number, number])[] = [
  ['train.py', 410, 1230, 200, 600],
  ['optim/adam_with_a_long_name.py', 0, 320, 0, 12],
  ['metrics.py', 96, 0, 48, 0],
  ['model.py', 64, 40, 8, 5],
  ['data.py', 16, 16, 4, 4],
];

export const RUN_BEFORE: RunComparison = {
  verdict: 'good',
  sentences: ['train.py:12 no longer grows.', 'Peak 1.36 GiB → 410 MiB.'],
};

export const TOO_EARLY: RunComparison = {
  verdict: 'early',
  sentences: ['More steps are needed to judge whether train.py:12 still grows.'],
};

export function compareTraces(runNs: number): ComparedTrace[] {
  const startMs = new Date(2026, 10, 29, 14, 32, 5).getTime();
  const steps = [412, 411, 410].map(step => ({ step, endNs: (runNs * step) / 412 }));
  const marks = [{ name: 'before eval', timeNs: runNs / 2 }];
  const run = { marks: [], peakNs: 7e9, ending: null, common: null };
  const before: ComparedTrace = {
    ...{ ...run, trace: 3, title: 'train.py', run: 1, status: 'stopped · 1 leak' },
    ...{ startMs: startMs - 90_000, live: false, steps: [{ step: 73, endNs: 6e9 }] },
    common: { step: 73, ownNs: 6e9, shownNs: Math.round((runNs * 73) / 412) },
  };
  const other: ComparedTrace = {
    ...{ ...run, trace: 4, title: 'finetune_with_a_long_name.py', status: 'ended' },
    ...{ startMs: startMs - 190_000, live: false, steps: [] },
  };
  const shown = { ...run, trace: 0, title: 'train.py', run: 2, status: 'running', startMs, live: true, marks, steps };
  return [{ ...shown, peakNs: runNs * 0.9 }, before, other];
}

export function compare({ by, a, b }: Pick<CompareQuery, 'by' | 'a' | 'b'>, oneFile = false): Comparison {
  const same = JSON.stringify(a) === JSON.stringify(b);
  const rows = HELD.map(([file, before, after, countBefore, countAfter], i): ComparedRow => {
    const name = oneFile ? 'train.py' : file;
    const [line, code] = [12 + 31 * i, 'training_step'];
    const at = { file: `/home/user/project/${name}`, line, function: code, movedFrom: i === 3 ? line - 2 : null };
    const stack = by === 'line' ? [] : [`${name}:${line} ${code}`, 'train.py:88 main'];
    const [bytesA, countA] = same ? [after, countAfter] : [before, countBefore];
    const row = { ...at, stack, bytesA: bytesA * MB, bytesB: after * MB, countA, countB: countAfter };
    // The other trace is of another program.
    if (a.trace === b.trace) return row;
    return i % 2 === 0 ? { ...row, bytesA: 0, countA: 0 } : { ...row, bytesB: 0, countB: 0 };
  }).filter(({ countA, countB }) => countA + countB > 0);
  const sum = (of: 'bytesA' | 'bytesB'): number => rows.reduce((all, row) => all + row[of], 0);
  const alone = (of: 'countA' | 'countB'): number => rows.filter(row => row[of] === 0).length;
  const sums = { bytesA: sum('bytesA'), bytesB: sum('bytesB'), added: alone('countA'), gone: alone('countB') };
  return { rows, total: rows.length, ...sums, renamed: null };
}
