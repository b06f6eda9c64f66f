// The snapshot as Python's pickle reads it; as PyTorch's own functions do, where a PyTorch is installed (GMT_TORCH_PYTHON may
// name Pythons that have one, with `:` between them).
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pytorchSnapshotChunks } from '../../../extension/exporters/pytorchSnapshot';
import { LifetimeTable } from '../../../extension/exporters/lifetimeTable';
import { askPython, pythonWith } from './python';
import { allocations, BASE, batchOf, bytesOf, info, MB, sampleInput, type Allocation } from './sampleTrace';

interface Snapshot {
  segments: {
    device: number;
    address: number;
    total_size: number;
    allocated_size: number;
    is_expandable: boolean;
    blocks: {
      address: number;
      size: number;
      state: string;
      frames: { filename: string; line: number; name: string }[];
    }[];
  }[];
  device_traces: { action: string; addr?: number; size: number; time_us: number; frames: { line: number }[] }[][];
  gpu_memory_trace: Record<string, unknown> & { devices: { pid: number; device: number; index: number }[] };
}

/** Opcodes that the reader of PyTorch's viewer knows (torch/utils/viz/MemoryViz.js). */
const VIEWER_OPCODES =
  'PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 BINFLOAT SHORT_BINUNICODE BINUNICODE EMPTY_LIST APPEND APPENDS EMPTY_DICT SETITEM SETITEMS MEMOIZE BINPUT LONG_BINPUT BINGET LONG_BINGET EMPTY_TUPLE TUPLE1 TUPLE2 TUPLE3 TUPLE LIST DICT';

const LOAD = `import json, pickle, pickletools, sys
data = open(sys.argv[1], "rb").read()
print(json.dumps({"snapshot": pickle.loads(data), "opcodes": sorted({op.name for op, _, _ in pickletools.genops(data)})}))`;

async function write(t: TestContext, rows: readonly Allocation[], facts = info): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-snapshot-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'x.pickle');
  writeFileSync(file, await bytesOf(pytorchSnapshotChunks(sampleInput({ rows, facts }))));
  return file;
}

async function read(t: TestContext, rows: readonly Allocation[] = allocations, facts = info): Promise<Snapshot> {
  const { snapshot, opcodes } = askPython<{ snapshot: Snapshot; opcodes: string[] }>(
    'python3',
    LOAD,
    await write(t, rows, facts),
  );
  const known = new Set(VIEWER_OPCODES.split(' '));
  assert.deepEqual(
    opcodes.filter(name => !known.has(name)),
    [],
    'PyTorch’s viewer reads all of it',
  );
  coherent(snapshot);
  return snapshot;
}

/** Blocks fill their segments, and going back through the trace each block lies in a segment that is there: so reads the viewer. */
function coherent({ segments, device_traces: traces }: Snapshot): void {
  for (const segment of segments) {
    assert.equal(
      segment.blocks.reduce((sum, block) => sum + block.size, 0),
      segment.total_size,
    );
  }
  for (const [device, trace] of traces.entries()) {
    const own = segments.filter(segment => segment.device === device);
    const present = new Map(own.map(segment => [segment.address, segment.total_size]));
    const blocks = new Map<number, number>();
    for (const { blocks: all } of own) {
      for (const block of all) if (block.state === 'active_allocated') blocks.set(block.address, block.size);
    }
    const check = (): void => {
      for (const [address, size] of blocks) {
        const inside = [...present].some(([begin, bytes]) => begin <= address && address + size <= begin + bytes);
        assert.ok(inside, `0x${address.toString(16)} lies in no segment`);
      }
    };
    check();
    for (const { action, addr = 0, size } of [...trace].reverse()) {
      if (action === 'alloc') assert.ok(blocks.delete(addr), 'what is allocated was not there before');
      else if (action === 'free_completed') blocks.set(addr, size);
      else if (action === 'segment_free') present.set(addr, size);
      else if (action === 'segment_alloc') assert.ok(present.delete(addr));
      check();
    }
  }
}

test('segments with their blocks, as they are at the end', async t => {
  const { segments } = await read(t);
  assert.equal(segments.length, 1);
  const [segment] = segments;
  assert.deepEqual([segment?.address, segment?.total_size, segment?.allocated_size], [BASE, 20 * MB, 3 * MB]);
  assert.deepEqual(
    segment?.blocks.map(block => [(block.address - BASE) / MB, block.size / MB, block.state]),
    [
      [0, 4, 'inactive'],
      [4, 1, 'active_allocated'],
      [5, 3, 'inactive'],
      [8, 2, 'active_allocated'],
      [10, 10, 'inactive'],
    ],
  );
  assert.deepEqual(segment?.blocks[3]?.frames, [
    { filename: '/lib/site-packages/torch/nn/linear.py', line: 125, name: 'forward' },
    { filename: '/home/user/train.py', line: 41, name: 'step' },
  ]);
});

test('the trace in order of time: frees before what takes their place', async t => {
  const { device_traces: traces } = await read(t);
  assert.equal(traces.length, 1);
  const told = traces[0]?.map(
    ({ action, addr, size }) => `${action} ${addr === undefined ? '' : (addr - BASE) / MB} ${size / MB}`,
  );
  assert.deepEqual(told, [
    'segment_alloc 0 20',
    'alloc 0 4',
    'alloc 8 2',
    'free_requested 0 4',
    'free_completed 0 4',
    'alloc 0 1',
    'alloc 4 1',
    'oom  9',
    'free_requested 0 1',
    'free_completed 0 1',
  ]);
  assert.equal(traces[0]?.[0]?.time_us, 1_700_000_001_000_000);
});

test('a block in no known segment gets one; a block that outlives its segment ends with it', async t => {
  const rows: Allocation[] = [
    { address: BASE, bytes: 4 * MB, layer: 'driver', site: 1, begin: 1e9, end: 3e9, kind: 16 },
    { address: BASE, bytes: MB, layer: 'tensor', site: 2, begin: 2e9, end: 4e9 },
    { address: BASE + 64 * MB + 512, bytes: 512, layer: 'tensor', site: 2, begin: 2e9, end: 5e9 },
    { address: BASE + 64 * MB + 1024, bytes: 1024, layer: 'tensor', site: 2, begin: 2e9 },
  ];
  const { segments, device_traces: traces } = await read(t, rows);
  assert.deepEqual(
    segments.map(segment => [(segment.address - BASE) / MB, segment.total_size / MB, segment.is_expandable]),
    [[64, 2, true]],
  );
  const first = traces[0]?.filter(({ addr }) => addr === BASE).map(({ action }) => action);
  assert.deepEqual(first, ['segment_alloc', 'alloc', 'free_requested', 'free_completed', 'segment_free']);
});

test('without a framework each of the driver’s allocations is a segment with one block', async t => {
  const rows = allocations.filter(({ layer }) => layer === 'driver');
  const { segments, device_traces: traces } = await read(t, rows);
  assert.deepEqual([segments.length, segments[0]?.blocks.length, segments[0]?.allocated_size], [1, 1, 20 * MB]);
  assert.deepEqual(
    traces[0]?.map(({ action }) => action).filter(action => action !== 'oom'),
    ['segment_alloc', 'alloc'],
  );
});

test('two processes on one device are two devices', async t => {
  const [own] = info.processes;
  assert.ok(own);
  const facts = { ...info, processes: [own, { ...own, index: 1, pid: 4200 }] };
  const both = [...allocations, ...allocations.map(row => ({ ...row, process: 1 }))];
  const rows = [...both.filter(row => row.end !== undefined), ...both.filter(row => row.end === undefined)];
  const { segments, device_traces: traces, gpu_memory_trace: about } = await read(t, rows, facts);
  assert.deepEqual(
    segments.map(segment => segment.device),
    [0, 1],
  );
  assert.equal(traces.length, 2);
  assert.deepEqual(
    about.devices.map(({ index, device, pid }) => [index, device, pid]),
    [
      [0, 0, 4100],
      [1, 0, 4200],
    ],
  );
});

test('it says what was lost and that the GPU was simulated', async t => {
  const { gpu_memory_trace: about } = await read(t);
  assert.deepEqual([about.simulated, about.lost], [true, { events: 5, byCause: { budget: 5 } }]);
});

test('of many allocations the ones that ended last are kept, with all that is alive', () => {
  const rows: Allocation[] = Array.from({ length: 95 }, (_, i) => {
    return { address: BASE + i * 512, bytes: 512, layer: 'tensor', site: 2, begin: 0, end: i + 1 };
  });
  const table = new LifetimeTable(10);
  for (let from = 0; from < 95; from += 7) table.add(batchOf(rows.slice(from, from + 7)));
  table.add(batchOf(allocations.slice(2)));
  table.finish();
  assert.deepEqual([table.rows, table.dropped, table.cutoffNs], [13, 85, 85]);
  assert.equal(table.get('endNs', 0), 86);
});

test('PyTorch’s own functions read it', async t => {
  const python = pythonWith('torch');
  if (python === null) return t.skip('no Python here has PyTorch; GMT_TORCH_PYTHON may name one');
  // The module needs nothing of torch itself, whose import takes long.
  const code = `import contextlib, importlib.util, io, json, os, pickle, sys
folder = os.path.dirname(importlib.util.find_spec("torch").origin)
spec = importlib.util.spec_from_file_location("_memory_viz", os.path.join(folder, "cuda", "_memory_viz.py"))
viz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(viz)
load = lambda: pickle.load(open(sys.argv[1], "rb"))
asis = lambda lines: lines
with contextlib.redirect_stdout(io.StringIO()):
  compared = viz.compare(load()["segments"], load()["segments"], format_flamegraph=asis)
  result = {
    "segsum": viz.segsum(load()), "trace": viz.trace(load()), "compared": compared,
    "memory": viz.memory(load(), format_flamegraph=asis), "segments": viz.segments(load(), format_flamegraph=asis),
    "plots": [viz.trace_plot(load()), viz.trace_plot(load(), filter_freed=True), viz.segment_plot(load())],
  }
print(json.dumps(result))`;
  const said = askPython<Record<'segsum' | 'trace' | 'memory' | 'segments' | 'compared', string> & { plots: string[] }>(
    python,
    code,
    await write(t, allocations),
  );
  assert.match(said.segsum, /total_reserved: 20\.0MiB\ntotal_allocated: 3\.0MiB\ntotal_free: 17\.0MiB/);
  assert.match(said.trace, /a = cudaMalloc\(\d+, 20\.0MiB\)\nb = a\[0:4\.0MiB\]/);
  assert.match(said.trace, /raise OutOfMemoryError # 9\.0MiB requested/);
  assert.match(said.memory, /^stream_0;active_allocated;train\.py:41:step;linear\.py:125:forward 2097152$/m);
  assert.match(said.segments, new RegExp(`^stream_0;seg_${BASE};inactive;<non-python> 0$`, 'm'));
  assert.equal(said.compared, '');
  for (const plot of said.plots) assert.match(plot, /add_local_files/);
});
