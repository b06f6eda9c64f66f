import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { test } from 'node:test';
import { packPage } from '../../../extension/html/pack';
import { NO_SESSION, type SessionView } from '../../../extension/protocol/requests/messages';
import { unpack } from '../../../webview/recorded/unpack';

const through = (session: SessionView, answers: [string, unknown][]) =>
  unpack(gzipSync(packPage({ session, answers: new Map(answers) })).toString('base64'));

test('values come back as they were, and equal ones are one', async () => {
  const columns = { a: Float64Array.of(1.5, NaN, Infinity, -0.25), b: BigUint64Array.of(0n, 0xffff_ffff_ffff_ffffn) };
  const rows = { texts: ['a', '', '</script>'], none: null, list: [1, { deep: [true] }], empty: new Uint32Array() };
  const { session, valueOf } = await through(NO_SESSION, [
    ['columns', columns],
    ['rows', rows],
    ['again', { ...rows }],
  ]);
  assert.deepEqual(session, NO_SESSION);
  assert.deepEqual(valueOf('columns'), columns);
  assert.deepEqual(valueOf('rows'), rows);
  assert.equal(valueOf('again'), valueOf('rows'));
  assert.equal(valueOf('constructor'), undefined);
});

test('facts of a trace are no references', async () => {
  const info = { session: { $: 9, $Float64Array: [1], fine: { $: 0, name: 'x' } } } as never;
  const { session } = await through({ ...NO_SESSION, info }, []);
  assert.deepEqual(session.info, { session: { fine: { name: 'x' } } });
});
