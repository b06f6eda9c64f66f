import assert from 'node:assert/strict';
import { checkMessage } from '../../../extension/protocol/requests/validate';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const request = (params: unknown): unknown => ({ type: 'request', id: 1, method: 'segments', params });

test('a request for the segment map passes unchanged, what is wrong with it is named', () => {
  for (const params of [
    { process: 0, device: 1 },
    { process: 0, device: 1, maxBlocks: 10, moment: { kind: 'at', timeNs: 5 } },
  ])
    assert.deepEqual(checkMessage(request(params)), { ok: true, message: request(params) });
  const cases: [unknown, string][] = [
    [{ process: -1, device: 0 }, 'process'],
    [{ process: 0 }, 'device'],
    [{ process: 0, device: 0, moment: 5 }, 'moment'],
  ];
  for (const [params, named] of cases) {
    const checked = checkMessage(request(params));
    assert.ok(!checked.ok && checked.error.includes(named), JSON.stringify(params));
    assertSentence(checked.error);
  }
});
