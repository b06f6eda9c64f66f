import assert from 'node:assert/strict';
import Ajv from 'ajv';
import { perfettoChunks } from '../../../extension/exporters/perfetto';
import { BiggestSlices, lanesOf } from '../../../extension/exporters/perfettoSlices';
import { allocations, batchOf, BASE, bytesOf, MB, sampleInput, type Allocation } from './sampleTrace';
import { TRACE_EVENT_SCHEMA } from './traceEvent';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

interface Event {
  ph: string;
  name: string;
  pid: number;
  tid?: number;
  ts: number;
  cat?: string;
  id2?: { local: string };
  args?: Record<string, string | number>;
}
interface File {
  otherData: Record<string, unknown>;
  traceEvents: Event[];
}
const read = async (): Promise<File> => JSON.parse((await bytesOf(perfettoChunks(sampleInput()))).toString()) as File;

test('it has the form of a Trace Event file', async () => {
  const validate = new Ajv().compile(TRACE_EVENT_SCHEMA);
  const file = await read();
  assert.ok(validate(file), JSON.stringify(validate.errors));
  const broken = { ...file, traceEvents: [{ ph: 'C', name: 'x', pid: 1, ts: 0, args: { bytes: 'many' } }] };
  assert.ok(!validate(broken), 'the schema refuses something');
});

test('slices of one track nest, each in the track of its thread', async () => {
  const tracks = new Map<string, Event[]>();
  for (const event of (await read()).traceEvents.filter(({ ph }) => ph === 'b' || ph === 'e')) {
    const key = `${event.pid} ${event.cat} ${event.id2?.local}`;
    tracks.set(key, [...(tracks.get(key) ?? []), event]);
  }
  for (const events of tracks.values()) {
    const open: Event[] = [];
    let at = 0;
    for (const event of events) {
      assert.ok(event.ts >= at, 'in order of time');
      at = event.ts;
      if (event.ph === 'b') open.push(event);
      else assert.equal(open.pop()?.name, event.name);
    }
    assert.equal(open.length, 0);
  }
  const names = [...tracks.values()].map(([first]) => first?.name).sort();
  assertSentence(names.join('\n'));
});

test('an allocation that is alive lasts to the end, and says so', async () => {
  const { traceEvents } = await read();
  const begin = traceEvents.find(({ ph, args }) => ph === 'b' && args?.bytes === 2 * MB);
  assert.deepEqual([begin?.ts, begin?.args?.alive, begin?.name], [3e6, 'yes', 'train.py:41 step']);
  assert.ok(traceEvents.some(({ ph, id2, ts }) => ph === 'e' && id2?.local === begin?.id2?.local && ts === 10e6));
});

test('it says what was lost, that the GPU was simulated, and how many allocations are drawn', async () => {
  const { otherData, traceEvents } = await read();
  assert.deepEqual(otherData.lost, { events: 5, byCause: { budget: 5 } });
  assert.deepEqual([otherData.simulated, otherData.allocations, otherData.allocationsDrawn], [true, 5, 5]);
  const failed = traceEvents.filter(({ ph }) => ph === 'i');
  assert.equal(failed.length, 1);
  assertSentence(failed[0]?.name);
});

test('the biggest of each layer are kept', () => {
  const many: Allocation[] = Array.from({ length: 100 }, (_, i) => {
    return { address: BASE + i, bytes: (i * 37) % 100, layer: 'tensor', site: 2, begin: i };
  });
  const biggest = new BiggestSlices(10);
  biggest.add(batchOf(many));
  biggest.add(batchOf(allocations.slice(2, 3)));
  const kept = biggest.groups().map(group => group.map(slice => slice.bytes).sort((a, b) => a - b));
  assert.deepEqual(kept, [[90, 91, 92, 93, 94, 95, 96, 97, 98, 99], [20 * MB]]);
  assert.equal(biggest.total, 101);
});

test('lanes are as few as can be', () => {
  const spans = [
    [0, 4],
    [1, 2],
    [2, 3],
    [3, NaN],
    [4, 5],
  ];
  const slice = { process: 0, thread: 0, layer: 'tensor' as const, device: 0, site: 1, address: 1n, bytes: 1 };
  const lanes = lanesOf(spans.map(([beginNs = 0, endNs = 0]) => ({ ...slice, beginNs, endNs })));
  assert.deepEqual(
    lanes.map(lane => lane.map(({ beginNs }) => beginNs)),
    [
      [0, 4],
      [1, 2, 3],
    ],
  );
});

test('ranges of the program are slices, each below those that it lies in', async () => {
  const input = sampleInput();
  input.trace.ranges = ({ process }) =>
    process > 0
      ? []
      : [
          { name: 'step', beginNs: 1e9, endNs: 4e9, thread: 0 },
          { name: 'attention', beginNs: 1e9, endNs: 2e9, thread: 0 },
          { name: 'loader', beginNs: 1.5e9, endNs: null, thread: 3 },
          { name: 'mlp', beginNs: 2e9, endNs: 3e9, thread: 0 },
          { name: 'step', beginNs: 5e9, endNs: 6e9, thread: 0 },
        ];
  const { traceEvents } = JSON.parse((await bytesOf(perfettoChunks(input))).toString()) as File;
  const ranges = traceEvents.filter(({ cat }) => cat === 'range');
  assert.deepEqual(
    ranges.map(({ ph, name, ts, id2 }) => `${ph} ${name} ${ts / 1e6} ${id2?.local}`),
    [
      ...['b step 1 0xc00', 'e step 4 0xc00', 'b attention 1 0xc01', 'e attention 2 0xc01', 'b loader 1.5 0xc02'],
      ...['e loader 10 0xc02', 'b mlp 2 0xc01', 'e mlp 3 0xc01', 'b step 5 0xc00', 'e step 6 0xc00'],
    ],
  );
});
