import assert from 'node:assert/strict';
import { csvChunks, csvRow } from '../../../extension/exporters/csv';
import { askPython } from './python';
import { allocations, bytesOf, MB, sampleInput } from './sampleTrace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const READ = 'import csv, json, sys; print(json.dumps(list(csv.DictReader(sys.argv[1].splitlines(True)))))';

async function rows(input = sampleInput()): Promise<Record<string, string>[]> {
  return askPython('python3', READ, (await bytesOf(csvChunks(input))).toString());
}

test('one row an allocation, as Python’s csv reads it', async () => {
  const read = await rows();
  assert.deepEqual(
    read.map(row => [row.address, row.bytes, row.layer, row.end_seconds]),
    allocations.map(({ address, bytes, layer, end }) => [
      `0x${address.toString(16)}`,
      String(bytes),
      layer,
      end === undefined ? '' : String(end / 1e9),
    ]),
  );
  const [first, , driver, , last] = read;
  assert.equal(first?.stack, '/home/user/train.py:41 step; /lib/site-packages/torch/nn/linear.py:125 forward');
  assert.deepEqual([first?.file, first?.line, first?.function], ['/home/user/train.py', '41', 'step']);
  assert.deepEqual([first?.thread, first?.pid, first?.kind], ['python:4100', '4100', 'tensor']);
  assert.deepEqual([driver?.kind, driver?.device, driver?.module], ['device', 'gpu_0', '']);
  assert.equal(last?.thread, 'pt_autograd_0:4101');
  assertSentence(last.function);
});

test('every row says that the GPU was simulated and how many events were lost', async () => {
  for (const row of await rows()) assert.deepEqual([row.simulated, row.lost_events], ['true', '5']);
});

test('cells that a spreadsheet takes for formulas become text, and quotes are doubled', async () => {
  const [, second] = await rows();
  assert.equal(second?.function, '\'=HYPERLINK("x")');
  assert.equal(second?.module, "'=layers.3");
  assert.equal(second?.file, '/home/user/=train, "odd".py');
  assert.equal(csvRow(['=1', '+1', '-1', '@a', '\tb', 'a=1', -1]), "'=1,'+1,'-1,'@a,'\tb,a=1,-1\r\n");
});

test('between two moments: only what was allocated in between and is alive', async () => {
  const read = await rows(sampleInput({ selection: { fromNs: 2.5e9, untilNs: 7e9 } }));
  assert.deepEqual(
    read.map(row => Number(row.bytes)),
    [2 * MB, MB],
  );
});

test('it stops when it is aborted', async () => {
  const abort = new AbortController();
  const input = sampleInput({ watch: { signal: abort.signal, onProgress: () => abort.abort(new Error('enough')) } });
  await assert.rejects(bytesOf(csvChunks(input)), /enough/);
});
