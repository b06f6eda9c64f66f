import assert from 'node:assert/strict';
import type { ToHost } from '../../../extension/protocol/requests/messages';
import { RequestClient } from '../../../webview/explorer/shell/client';
import { FakeTime } from './fakeTime';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertRejects } = sentencesOf(__filename);

function setUp(): { client: RequestClient; sent: Extract<ToHost, { type: 'request' }>[]; time: FakeTime } {
  const sent: Extract<ToHost, { type: 'request' }>[] = [];
  const time = new FakeTime();
  const client = new RequestClient(message => message.type === 'request' && sent.push(message), 5000, time);
  return { client, sent, time };
}

test('a request is answered with the value of its own id, in any order', async () => {
  const { client, sent, time } = setUp();
  const first = client.request('site', { id: 1 });
  const second = client.request('site', { id: 2 });
  assert.deepEqual(
    sent.map(message => message.params),
    [{ id: 1 }, { id: 2 }],
  );
  client.accept({ type: 'response', id: sent[1]!.id, ok: true, value: null });
  assert.equal(await second, null);
  assert.equal(time.waiting, 1);
  client.accept({ type: 'response', id: sent[0]!.id, ok: true, value: { id: 1 } });
  assert.deepEqual(await first, { id: 1 });
  assert.equal(time.waiting, 0);
});

test('a rejected request carries the sentence of the host', async () => {
  const { client, sent, time } = setUp();
  const saved = client.request('save', undefined);
  client.accept({ type: 'response', id: sent[0]!.id, ok: false, error: 'The disk is full.' });
  await assert.rejects(saved, { message: 'The disk is full.' });
  assert.equal(time.waiting, 0, 'its timer is gone');
});

test('a dialog may be open for as long as it takes, and its answer counts', async () => {
  const { client, sent, time } = setUp();
  const chosen = client.request('openOtherTrace', undefined);
  time.advance(3_600_000);
  client.accept({ type: 'response', id: sent[0]!.id, ok: true, value: 7 });
  assert.equal(await chosen, 7);
});

test('a request without an answer is given up, and a late answer is nobody’s', async () => {
  const { client, sent, time } = setUp();
  const asked = client.request('openLine', { file: 'a.py', line: 1 });
  time.advance(4999);
  assert.equal(time.waiting, 1);
  time.advance(1);
  await assertRejects(asked);
  client.accept({ type: 'response', id: sent[0]!.id, ok: true, value: undefined });
});
