import assert from 'node:assert/strict';
import { checkMessage } from '../../../extension/protocol/requests/validate';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const request = (method: string, params?: unknown): unknown => ({ type: 'request', id: 1, method, params });
const allocations = { layer: 'tensor', site: 3, sort: 'bytes', descending: true, from: 0, to: 20 };

test('requests about blocks pass unchanged', () => {
  const messages = [
    request('allocations', allocations),
    request('allocations', { process: 0, thread: 2, device: 0, sort: 'age', descending: false, from: 0, to: 0 }),
    request('block', { process: 0, site: 3, address: '0x7f00a0' }),
    request('blockHolder', { process: 0, address: '0x1', timeNs: 5.5 }),
    request('inspectBlock', { process: 0, site: 3, address: '0x7f00a0' }),
    request('copyText', { text: 'x' }),
    request('ledger', {}),
    request('ledger', { moment: { kind: 'at', timeNs: 5 } }),
  ];
  for (const message of messages) assert.deepEqual(checkMessage(message), { ok: true, message });
});

test('what is wrong with them is named', () => {
  const cases: [unknown, string][] = [
    [request('allocations', { ...allocations, to: 1e9 }), 'window'],
    [request('allocations', { ...allocations, sort: 'label' }), 'sort'],
    [request('allocations', { ...allocations, site: -1 }), 'site'],
    [request('block', { process: 0, site: 3, address: '7f' }), 'address'],
    [request('block', { process: 0, site: 3, address: 16 }), 'address'],
    [request('inspectBlock', { process: -1, site: 3, address: '0x7f' }), 'process'],
    [request('blockHolder', { process: 0, address: '0x12345678123456789', timeNs: 0 }), 'address'],
    [request('blockHolder', { process: 0, address: '0x1', timeNs: Infinity }), 'timeNs'],
    [request('copyText', { text: 4 }), 'text'],
  ];
  for (const [message, named] of cases) {
    const checked = checkMessage(message);
    assert.ok(!checked.ok && checked.error.includes(named), JSON.stringify(message));
    assertSentence(checked.error);
  }
});
