import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellRunsOf, nameCells } from '../../../extension/protocol/notebookCells';
import { baseName, fileLine } from '../../../extension/text/format';
import { marksOf } from '../../../extension/protocol/marks';
import type { TraceInfo } from '../../../extension/protocol/trace';

const START = 1_795_000_000_000;
const file = (hash: number): string => `/tmp/ipykernel_7/${hash}.py`;
const at = (ms: number): string => (START + ms).toFixed(3);

function infoOf(...texts: string[]): Pick<TraceInfo, 'session' | 'startRealtimeMs' | 'processes'> {
  const notes = texts.map(text => ({ code: 16, text }));
  return {
    session: {},
    startRealtimeMs: START,
    processes: [{ notes: [{ code: 5, text: `1 2 3 /x` }, ...notes] }],
  } as never;
}

test('cells are called by the numbers of their runs', () => {
  const again = [9, 7, 12, 8, 30].map(number => `${at(number)} ${at(number + 1)} ${number} ${file(2)}`);
  nameCells(infoOf(`0.000 0.000 1 ${file(1)}`, ...again.slice(0, 3)));
  assert.equal(fileLine(file(1), 3), 'In [1]: 3');
  assert.equal(fileLine(file(2), 3), 'In [7, 9, 12]: 3');
  nameCells(infoOf(...again));
  assert.equal(baseName(file(2)), 'In [7, 8, …, 30]');
  assert.equal(fileLine('/home/me/train.py', 3), 'train.py:3');
});

test('of two kernels with one PID, the trace that was named last gives a cell its number', () => {
  const [one, other] = [infoOf(`${at(1)} ${at(2)} 3 ${file(5)}`), infoOf(`${at(1)} ${at(2)} 8 ${file(5)}`)];
  for (const [info, name] of [
    [one, 'In [3]'],
    [other, 'In [8]'],
    [one, 'In [3]'],
  ] as const) {
    nameCells(info);
    assert.equal(baseName(file(5)), name);
  }
});

test('runs have their times, and marks where they end; of what ran before the tracer came only the name is known', () => {
  const info = infoOf(
    `0.000 ${at(5)} 2 ${file(1)}`,
    `0.000 0.000 1 ${file(3)}`,
    `${at(7)} ${at(9)} 3 ${file(1)}`,
    'damaged',
  );
  assert.deepEqual(
    cellRunsOf(info).map(({ number, beginNs, endNs }) => [number, beginNs, endNs]),
    [
      [2, 0, 5e6],
      [3, 7e6, 9e6],
    ],
  );
  assert.deepEqual(marksOf(info), [
    { name: 'In [2]', timeNs: 5e6 },
    { name: 'In [3]', timeNs: 9e6 },
  ]);
});
