import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PickleWriter, type PickleValue } from '../../../extension/exporters/pickle';
import { askPython } from './python';

/** What Python reads, and the names of the opcodes. */
function load(bytes: Buffer): { value: unknown; opcodes: string[] } {
  const code = `import json, pickle, pickletools, sys
data = bytes.fromhex(sys.argv[1])
print(json.dumps({"value": pickle.loads(data), "opcodes": sorted({op.name for op, _, _ in pickletools.genops(data)})}))`;
  return askPython('python3', code, bytes.toString('hex'));
}

function dump(value: PickleValue): Buffer {
  const pickle = new PickleWriter();
  pickle.value(value);
  pickle.stop();
  return pickle.take();
}

test('Python reads what was written', () => {
  const value = {
    numbers: [
      0,
      1,
      255,
      256,
      65535,
      65536,
      -1,
      -128,
      2 ** 31 - 1,
      2 ** 31,
      -(2 ** 31),
      -(2 ** 31) - 1,
      2 ** 53,
      0.5,
      -1e300,
    ],
    texts: ['', 'a', 'a', 'ä→𝄞', 'x'.repeat(300), 'y'.repeat(30_000)],
    rest: [null, true, false, {}, []],
  };
  assert.deepEqual(load(dump(value)).value, value);
});

test('addresses beyond 2^53 keep all their bits', () => {
  const text = askPython<string>(
    'python3',
    'import json, pickle, sys; print(json.dumps(str(pickle.loads(bytes.fromhex(sys.argv[1])))))',
    dump([0xffff_ffff_ffff_ffffn, -0x8000_0000_0000_0000n]).toString('hex'),
  );
  assert.equal(text, '[18446744073709551615, -9223372036854775808]');
});

test('a shared value is one object, also when there are many', () => {
  const pickle = new PickleWriter();
  const frames = Array.from({ length: 600 }, (_, i) => ({ line: i }));
  pickle.list();
  pickle.mark();
  for (let round = 0; round < 2; round++) {
    for (const frame of frames) pickle.shared(frame, () => pickle.value({ line: frame.line, name: `f${frame.line}` }));
  }
  pickle.appends();
  pickle.stop();
  const code = `import json, pickle, sys
read = pickle.loads(bytes.fromhex(sys.argv[1]))
print(json.dumps([len(read), len({id(item) for item in read}), read[599] == read[1199] == {"line": 599, "name": "f599"}]))`;
  assert.deepEqual(askPython('python3', code, pickle.take().toString('hex')), [1200, 600, true]);
});
