import assert from 'node:assert/strict';
import { Outbox } from '../../../extension/protocol/requests/outbox';
import { checkMessages } from '../../../extension/protocol/requests/validate';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

test('messages of one moment travel as one; one that is alone as it is', () => {
  const sent: unknown[] = [];
  const moments: (() => void)[] = [];
  const outbox = new Outbox<string>(
    packet => sent.push(packet),
    run => moments.push(run),
  );
  outbox.post('a');
  outbox.post('b');
  assert.deepEqual(sent, []);
  moments.shift()?.();
  assert.deepEqual(sent, [{ type: 'batch', messages: ['a', 'b'] }]);
  outbox.post('c');
  moments.shift()?.();
  assert.deepEqual(sent.slice(1), ['c']);
  assert.equal(moments.length, 0);
});

test('each message of a batch is checked by itself', () => {
  const stop = { type: 'request', id: 3, method: 'stop', params: undefined };
  const messages = [
    { type: 'ready' },
    stop,
    { type: 'request', id: 4, method: 'eval' },
    { type: 'batch', messages: [] },
  ];
  const checked = checkMessages({ type: 'batch', messages });
  assert.deepEqual(
    checked.map(one => one.ok),
    [true, true, false, false],
  );
  assert.deepEqual(checked[1], { ok: true, message: stop });
  assert.equal(checked[2]?.ok === false && checked[2].id, 4);
  assert.deepEqual(checkMessages({ type: 'ready' }), [{ ok: true, message: { type: 'ready' } }]);
});

test('a batch that is none is refused', () => {
  for (const messages of [undefined, {}, 'ready', Array.from({ length: 1000 }, () => ({ type: 'ready' }))]) {
    const checked = checkMessages({ type: 'batch', messages });
    assert.equal(checked.length, 1);
    assert.ok(checked[0]?.ok === false);
    assertSentence(checked[0].error);
  }
});
