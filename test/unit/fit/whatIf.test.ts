import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asRecorded, callsOf, orderOf } from '../../../extension/fit/calls';
import { withHalfParameters } from '../../../extension/fit/halfParameters';
import { freedWithStep, updatedOneByOne, withoutGradients } from '../../../extension/fit/otherLifetimes';
import { membersOf } from '../../../extension/fit/repeatedModules';
import { sharded } from '../../../extension/fit/sharding';
import { madeRun, sized, type Made } from './madeRun';

const gradient = (begin: number, end: number | undefined, step: number, more: Partial<Made> = {}): Made => ({
  ...{ bytes: 4000, begin, category: 'gradient', pass: 'backward', module: 'up', step, ...more },
  ...(end !== undefined && { end }),
});

test('foreach=False: what the optimizer makes for one parameter is freed when that of the next is made', () => {
  const made = (begin: number): Made => ({ bytes: 1000, begin, end: 40, pass: 'optimizer' });
  const state: Made = { bytes: 1000, begin: 10, pass: 'optimizer', category: 'optimizer' };
  const run = madeRun([state, made(20), made(22), made(24)]);
  const { planned, found } = updatedOneByOne(run, asRecorded(run));
  assert.deepEqual([planned.map(({ end }) => end), found], [[Infinity, 22.5, 24.5, 40], 3]);
});

test('gradients that stay are freed with each step; what was added to them is the gradient then', () => {
  const added = gradient(30, 31, 2, { category: 'other' });
  const run = madeRun([
    gradient(10, undefined, 1),
    { bytes: 8, begin: 15, step: 1 },
    added,
    { bytes: 8, begin: 35, step: 2 },
  ]);
  const { planned, found } = withoutGradients(run, asRecorded(run));
  assert.deepEqual([planned.map(({ end }) => end), found], [[15.5, Infinity, 35.5, Infinity], 1]);
  const freed = madeRun([gradient(10, 20, 1), { bytes: 8, begin: 15, step: 1 }, gradient(30, 40, 2)]);
  assert.equal(withoutGradients(freed, asRecorded(freed)).found, 0);
});

test('what a line allocates is freed with its step', () => {
  const run = madeRun([
    { bytes: 8, begin: 1, end: 90, step: 1, line: '/home/me/train.py:38' },
    { bytes: 8, begin: 2, end: 3, step: 1, line: '/home/me/train.py:38' },
    { bytes: 8, begin: 3, end: 90, step: 1, line: '/home/me/other_train.py:38' },
    { bytes: 8, begin: 9, step: 2, line: '/home/me/train.py:38' },
  ]);
  const { planned, found } = freedWithStep(run, asRecorded(run), 'train.py:38');
  assert.deepEqual([planned.map(({ end }) => end), found], [[3.5, 3, 90, 9.5], 2]);
});

test('parameters in bfloat16 take half, and autocast makes no copies of them', () => {
  const run = madeRun([
    { bytes: 8192, begin: 1, category: 'parameter', module: 'up' },
    { bytes: 4096, begin: 10, end: 30, category: 'activation', module: 'up' }, // the copy
    { bytes: 9216, begin: 11, end: 30, category: 'activation', module: 'up' },
    gradient(25, 40, 1, { bytes: 8192 }),
  ]);
  const { planned, found } = withHalfParameters(sized(run), asRecorded(run));
  const sizes = planned.map(({ allocation, share = 1 }) => (run.bytes[allocation] ?? 0) * share);
  assert.deepEqual([sizes, found], [[4096, 9216, 4096], 1]);
});

test('one of two ranks holds half of the model, and all of a layer while that runs', () => {
  const layer = (number: number, forward: number, backward: number): Made[] => [
    { bytes: 4000, begin: number + 1, category: 'parameter', module: `layers.${number}` },
    { bytes: 600, begin: forward, end: backward, category: 'activation', module: `layers.${number}`, pass: 'forward' },
    gradient(backward, 90, 1, { module: `layers.${number}` }),
    { bytes: 8000, begin: 80 + number, category: 'optimizer', module: `layers.${number}`, pass: 'optimizer' },
  ];
  const run = madeRun([...layer(0, 10, 40), ...layer(1, 20, 30)].toSorted((a, b) => a.begin - b.begin));
  const { planned, found } = sharded(run, asRecorded(run), 2);
  assert.equal(found, 2);
  const calls = callsOf(orderOf(run, planned), run.bytes, new Uint32Array(0));
  const lives = (place: number): [number, number][] =>
    planned.flatMap(({ allocation, begin, end, share = 1, stream = 0 }) =>
      begin <= place && end > place ? [[(run.bytes[allocation] ?? 0) * share, stream]] : [],
    );
  assert.deepEqual(
    lives(8),
    [
      [2000, 0],
      [2000, 0],
    ],
    'before the first pass, a half of each',
  );
  assert.deepEqual(
    lives(9.9)
      .map(([bytes, stream]) => [bytes, stream])
      .toSorted(([a], [b]) => (a ?? 0) - (b ?? 0)),
    [
      [2000, 0],
      [2000, 0],
      [4000, 1],
      [4000, 0],
    ],
    'layer 0 is gathered by its own stream',
  );
  const halves = sharded(run, withHalfParameters(sized(run), asRecorded(run)).planned, 2).planned;
  const parameter = halves.filter(({ allocation, stream = 0 }) => allocation === 0 && stream === 0);
  assert.deepEqual([...new Set(parameter.map(({ share }) => share))], [0.25, 0.5], 'both at once');
  assert.ok(
    lives(50).some(([bytes, stream]) => bytes === 2000 && stream === 2),
    'a gradient is divided',
  );
  assert.deepEqual([...new Set(calls.pool)].toSorted(), [0, 1, 2]);
});

test('a pattern of modules may take every second one', () => {
  const run = madeRun(
    ['layers.0.up', 'layers.1.up', 'layers.2', 'norm'].map((module, at) => ({ bytes: 8, begin: at + 1, module })),
  );
  assert.deepEqual(membersOf(run, 'layers.*'), [undefined, 'layers.0', 'layers.1', 'layers.2', undefined]);
  assert.deepEqual(membersOf(run, 'layers.*:2'), [undefined, 'layers.0', undefined, 'layers.2', undefined]);
});
