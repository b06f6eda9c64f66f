import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { allocationsChunks } from '../../../extension/exporters/parquet/allocations';
import { TABLES } from '../../../extension/exporters/parquet/tables';
import { askPython, pythonWith } from './python';
import { allocations, BASE, bytesOf, MB, sampleInput } from './sampleTrace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const written = async (...input: Parameters<typeof sampleInput>): Promise<ArrayBuffer> =>
  Uint8Array.from(await bytesOf(allocationsChunks(sampleInput(...input)))).buffer;

test('one row an allocation, with its types', async () => {
  const rows = await parquetReadObjects({ file: await written() });
  const column = (name: string): unknown[] => rows.map(row => row[name]);
  assert.deepEqual(
    column('bytes'),
    allocations.map(row => BigInt(row.bytes)),
  );
  assert.deepEqual(column('end_ns'), [4_000_000_000n, 6_000_000_000n, null, null, null]);
  assert.deepEqual(column('layer'), ['tensor', 'tensor', 'driver', 'tensor', 'tensor']);
  assert.deepEqual(column('function').slice(0, -1), ['step', '=HYPERLINK("x")', 'step', 'step']);
  assertSentence(String(column('function').at(-1)));
  assert.deepEqual(column('thread')[1], 'pt_autograd_0:4101');
  assert.deepEqual(column('address')[3], BigInt(BASE + 8 * MB));
  assert.deepEqual(column('simulated'), [true, true, true, true, true]);
  assert.deepEqual(Object.keys(rows[0] ?? {}), Object.keys(TABLES.allocations));
});

test('the metadata says what was lost and that the GPU was simulated', async () => {
  const { key_value_metadata: all } = parquetMetadata(await written());
  const text = all?.find(({ key }) => key === 'gpu_memory_trace')?.value ?? '{}';
  const facts = JSON.parse(text) as Record<string, unknown>;
  assert.deepEqual([facts.formatVersion, facts.simulated], [1, true]);
  assert.deepEqual(facts.lost, { events: 5, byCause: { budget: 5 } });
});

test('a trace without allocations is a file without rows', async () => {
  const { num_rows: rows, schema } = parquetMetadata(await written({ rows: [] }));
  assert.deepEqual([rows, schema.length], [0n, 1 + Object.keys(TABLES.allocations).length]);
});

test('pyarrow reads it as it is', async t => {
  const python = pythonWith('pyarrow');
  if (python === null) return t.skip('no Python here has pyarrow');
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-parquet-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'x.parquet');
  writeFileSync(file, new Uint8Array(await written()));
  const code = `import json, sys, pyarrow.parquet as pq
table = pq.read_table(sys.argv[1])
table.validate(full=True)
print(json.dumps({"rows": table.num_rows, "bytes": sum(table["bytes"].to_pylist()), "stack": table["stack"].to_pylist()}))`;
  const read = askPython<{ rows: number; bytes: number; stack: (string | null)[] }>(python, code, file);
  assert.deepEqual([read.rows, read.bytes], [5, 28 * MB]);
  assert.equal(read.stack[0], '/home/user/train.py:41 step; /lib/site-packages/torch/nn/linear.py:125 forward');
});
