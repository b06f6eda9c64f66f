import assert from 'node:assert/strict';
import { test } from 'node:test';
import { savesText } from '../../../extension/text/roomText';

const filled = (text: string, ...values: string[]): string =>
  values.reduce((filling, value, i) => filling.replace(`{${i}}`, value), text);

test('a higher limit saves nothing: it makes memory available', () => {
  const room = { limitBytes: 4096, inUseBytes: 4096, missingBytes: 2048, reservedBytes: 0 };
  const text = (kind: 'limit' | 'batch', bytes: number): string =>
    savesText({ kind, text: '', bytes, atMost: true }, room, filled);
  assert.deepEqual(
    [text('limit', 2048), text('limit', 1024), text('batch', 2048), text('batch', 1024)].map(said =>
      said.replace(/ (up|only) .*/, ''),
    ),
    ['makes', 'makes', 'saves', 'saves'],
  );
});
