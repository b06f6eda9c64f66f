import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DataType, tableFromIPC } from 'apache-arrow';
import { arrowChunks } from '../../../extension/exporters/arrow';
import { askPython, pythonWith } from './python';
import { allocations, BASE, bytesOf, MB, sampleInput } from './sampleTrace';

test('one row an allocation, with its types', async () => {
  const table = tableFromIPC(await bytesOf(arrowChunks(sampleInput())));
  assert.equal(table.numRows, allocations.length);
  const column = (name: string): unknown[] => [...(table.getChild(name) ?? [])];
  assert.deepEqual(
    column('bytes'),
    allocations.map(row => BigInt(row.bytes)),
  );
  assert.deepEqual(column('end_ns'), [4_000_000_000n, 6_000_000_000n, null, null, null]);
  assert.deepEqual(column('layer'), ['tensor', 'tensor', 'driver', 'tensor', 'tensor']);
  assert.deepEqual(column('function'), ['step', '=HYPERLINK("x")', 'step', 'step', '(no Python line)']);
  assert.deepEqual(column('thread')[1], 'pt_autograd_0:4101');
  assert.deepEqual(column('address')[3], BigInt(BASE + 8 * MB));
  assert.deepEqual(column('simulated'), [true, true, true, true, true]);
  for (const name of ['stack', 'file', 'function', 'thread', 'layer', 'kind', 'category']) {
    assert.ok(DataType.isDictionary(table.getChild(name)?.type), name);
  }
});

test('the schema’s metadata says what was lost and that the GPU was simulated', async () => {
  const { schema } = tableFromIPC(await bytesOf(arrowChunks(sampleInput())));
  const facts = JSON.parse(schema.metadata.get('gpu_memory_trace') ?? '{}') as Record<string, unknown>;
  assert.deepEqual([facts.simulated, facts.lost], [true, { events: 5, byCause: { budget: 5 } }]);
});

test('a trace without allocations is a file without rows', async () => {
  const table = tableFromIPC(await bytesOf(arrowChunks(sampleInput({ rows: [] }))));
  assert.deepEqual([table.numRows, table.schema.fields.length], [0, 21]);
});

test('pyarrow reads it as it is', async t => {
  const python = pythonWith('pyarrow');
  if (python === null) return t.skip('no Python here has pyarrow');
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-arrow-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'x.arrow');
  writeFileSync(file, await bytesOf(arrowChunks(sampleInput())));
  const code = `import json, sys, pyarrow as pa
table = pa.ipc.open_file(sys.argv[1]).read_all()
table.validate(full=True)
print(json.dumps({"rows": table.num_rows, "bytes": sum(table["bytes"].to_pylist()), "stack": table["stack"].to_pylist()}))`;
  const read = askPython<{ rows: number; bytes: number; stack: (string | null)[] }>(python, code, file);
  assert.deepEqual([read.rows, read.bytes], [5, 28 * MB]);
  assert.equal(read.stack[0], '/home/user/train.py:41 step; /lib/site-packages/torch/nn/linear.py:125 forward');
});
