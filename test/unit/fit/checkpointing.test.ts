import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callsOf, asRecorded, orderOf } from '../../../extension/fit/calls';
import { checkpointed } from '../../../extension/fit/checkpointing';
import { repeatedModules } from '../../../extension/fit/repeatedModules';
import { madeRun, sized, type Made } from './madeRun';

const activation = (module: string, begin: number, end: number, bytes = 1000): Made => ({
  ...{ bytes, begin, end, module },
  category: 'activation',
});

/** Two layers, each with a temporary, two saved activations and an output; the backward pass frees in reverse order. */
const RUN = madeRun([
  { bytes: 8000, begin: 1, category: 'parameter', module: 'layers.0.up' },
  activation('layers.0.up', 10, 12),
  activation('layers.0.up', 11, 42),
  activation('layers.0.down', 13, 41),
  activation('layers.0', 14, 40), // the output
  activation('layers.1.up', 20, 22),
  activation('layers.1.up', 21, 35),
  activation('layers.1.down', 23, 34),
  activation('layers.1', 24, 33),
  { bytes: 2000, begin: 31, end: 50, category: 'gradient', module: 'layers.1', pass: 'backward' },
  { bytes: 2000, begin: 34.5, end: 50, category: 'gradient', module: 'layers.1.down', pass: 'backward' },
  { bytes: 2000, begin: 39, end: 51, category: 'gradient', module: 'layers.0', pass: 'backward' },
  { bytes: 2000, begin: 41.5, end: 51, category: 'gradient', module: 'layers.0.down', pass: 'backward' },
]);

test('modules that are one of many are found, those with the biggest activations first', () => {
  const found = repeatedModules(RUN).map(({ pattern, count }) => [pattern, count]);
  assert.deepEqual(found, [['layers.*', 2]]);
  const nested = madeRun([
    activation('encoder.block.0.mlp', 1, 9),
    activation('encoder.block.1.mlp', 2, 9),
    activation('decoder.block.0', 3, 9, 5000),
    activation('decoder.block.1', 4, 9),
    activation('heads.0', 5, 9, 90_000), // the only one
  ]);
  assert.deepEqual(
    repeatedModules(nested).map(({ pattern }) => pattern),
    ['decoder.block.*', 'encoder.block.*'],
  );
});

test('what a module saves goes at the end of its forward pass, and comes again before its backward pass', () => {
  const { planned, found: modules } = checkpointed(sized(RUN), asRecorded(RUN), 'layers.*');
  assert.equal(modules, 2);
  const lives = (allocation: number): number[][] =>
    planned.filter(one => one.allocation === allocation).map(({ begin, end }) => [begin, end]);
  assert.deepEqual(lives(0), [[1, Infinity]]);
  assert.deepEqual(lives(9), [[31, 50]]);
  assert.deepEqual(lives(8)[0], [24, 33], 'the output stays');
  for (const [saved, end, backward, freed] of [
    [2, 13, 39, 42],
    [3, 14, 39, 41],
    [6, 23, 31, 35],
    [7, 24, 31, 34],
  ] as const) {
    const [first, again, ...more] = lives(saved);
    assert.deepEqual(more, []);
    assert.deepEqual(first, [RUN.begin[saved], end + 0.5]);
    assert.ok(again !== undefined && (again[0] ?? 0) > backward - 1 && (again[0] ?? 0) < backward);
    assert.equal(again?.[1], freed);
  }
  const temporary = lives(1)[1];
  assert.ok(temporary !== undefined && (temporary[1] ?? 0) < 39, 'a temporary is temporary once more');
});

test('a layer keeps its input; autocast keeps its copies of weights; what is not saved is not made again', () => {
  const layer = (number: number, begin: number, backward: number): Made[] => [
    { bytes: 8192, begin: begin - 9, category: 'parameter', module: `layers.${number}.up` },
    activation(`layers.${number}.up`, begin, backward + 2, 4096), // the weights in half their precision
    activation(`layers.${number}.up`, begin + 1, backward + 2, 9216),
    activation(`layers.${number}`, begin + 2, begin + 12, 5120), // the output: the next layer saves another tensor
    { bytes: 512, begin: backward, end: backward + 1, module: `layers.${number}` }, // a sum, which needs nothing
    { bytes: 6144, begin: backward + 1.5, end: 90, category: 'gradient', module: `layers.${number}.up` },
  ];
  const run = madeRun([...layer(0, 10, 50), ...layer(1, 20, 40)].toSorted((a, b) => a.begin - b.begin));
  const { planned } = checkpointed(sized(run), asRecorded(run), 'layers.*');
  const lives = (bytes: number): number[][] =>
    planned.filter(one => run.bytes[one.allocation] === bytes).map(({ begin, end }) => [begin, Math.round(end)]);
  assert.deepEqual(lives(5120), [
    [12, 42], // until layer 1 frees the last of what it made again
    [22, 32],
  ]);
  assert.deepEqual(
    lives(4096)
      .slice(0, 2)
      .map(([, end]) => end),
    [23, 23],
    'until the forward pass is over',
  );
  const again = lives(9216)
    .slice(2)
    .map(([begin, end]) => [Math.floor(begin ?? 0), end]);
  assert.deepEqual(again, [
    [51, 52],
    [41, 42],
  ]);
});

test('what is not saved lives as in Python: by who takes it', () => {
  const backward = (module: string, begin: number): Made => ({
    bytes: 512,
    begin,
    end: begin + 0.5,
    module,
    pass: 'backward',
  });
  const run = madeRun([
    activation('layers.0.attention.query', 10, 59, 65_536), // a variable of attention
    activation('layers.0.attention', 11, 58, 512), // seeds
    activation('layers.0.attention', 12, 57, 65_536), // what attention returns, which the next module takes
    activation('layers.0.attention', 13, 56, 2048), // beside it
    activation('layers.0.attention.out', 14, 50, 65_536),
    activation('layers.0', 15, 48, 16_384), // the mask of a dropout
    activation('layers.0', 16, 17, 65_536),
    activation('layers.0', 17.5, 46, 131_072), // a sum, to which what the last module returns is added
    activation('layers.0.mlp.up', 18, 40, 262_144), // what a function takes
    activation('layers.0.mlp', 19, 38, 262_144),
    activation('layers.0.mlp.down', 20, 22, 65_536),
    activation('layers.0', 21, 32, 131_072),
    { ...activation('head', 25, 31) },
    backward('layers.0.mlp.down', 35),
    backward('layers.0.mlp', 39),
    backward('layers.0.mlp.up', 45),
    backward('layers.0', 47),
    backward('layers.0.attention.out', 49),
    backward('layers.0.attention', 55),
  ]);
  const { planned } = checkpointed(sized(run), asRecorded(run), 'layers.*');
  const ends = Array.from({ length: 10 }, (_, at) => planned.find(one => one.allocation === at)?.end);
  assert.deepEqual(ends, [14.5, 13.5, 14.5, 13.5, 16.5, 16.5, 17, 21.5, 19.5, 20.5]);
});

test('what a module makes whose path is not known goes with the layer that it runs in', () => {
  const run = madeRun([
    activation('layers.0.up', 10, 40),
    activation('Softmax (path unknown)', 11, 38),
    activation('layers.0', 12, 30), // the output
    activation('Softmax (path unknown)', 20, 29), // behind the layer
    { bytes: 512, begin: 37, end: 37.5, module: 'layers.0', pass: 'backward' },
  ]);
  const { planned } = checkpointed(sized(run), asRecorded(run), 'layers.*');
  const lives = (allocation: number): number => planned.filter(one => one.allocation === allocation).length;
  assert.deepEqual([lives(0), lives(1), lives(2), lives(3)], [2, 2, 1, 1]);
});

test('a path that fits no module changes nothing', () => {
  const { planned, found: modules } = checkpointed(sized(RUN), asRecorded(RUN), 'blocks.*');
  assert.deepEqual([planned, modules], [asRecorded(RUN), 0]);
  assert.equal(checkpointed(sized(RUN), asRecorded(RUN), 'layers.1').found, 1);
});

test('calls: in the order of places, frees before what begins there, the cache where segments end', () => {
  const segment = { address: 0, bytes: 2 ** 21, begin: 0, end: 4.5, earlier: false };
  const run = madeRun(
    [
      { bytes: 512, begin: 1, end: 5 },
      { bytes: 1024, begin: 3 },
      { bytes: 2048, begin: 5, end: 6 },
    ],
    [segment, { ...segment, end: Infinity }],
  );
  const calls = callsOf(orderOf(run, asRecorded(run)), run.bytes, Uint32Array.of(3, 4, 5));
  assert.deepEqual([...calls.bytes], [512, 1024, -1, 0, 2048, 0]);
  assert.deepEqual([...calls.allocation], [0, 1, 0, 0, 2, 2]);
  assert.deepEqual([...calls.pool], [3, 4, 5]);
});
