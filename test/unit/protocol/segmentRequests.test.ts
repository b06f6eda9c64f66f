import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMessage } from '../../../extension/protocol/requests/validate';

const request = (params: unknown): unknown => ({ type: 'request', id: 1, method: 'segments', params });

test('a request for the segment map passes unchanged, what is wrong with it is named', () => {
  for (const params of [
    { process: 0, device: 1 },
    { process: 0, device: 1, maxBlocks: 10, moment: { kind: 'at', timeNs: 5 } },
  ])
    assert.deepEqual(checkMessage(request(params)), { ok: true, message: request(params) });
  const cases: [unknown, RegExp][] = [
    [{ process: -1, device: 0 }, /process is a whole number/],
    [{ process: 0 }, /device is a whole number/],
    [{ process: 0, device: 0, moment: 5 }, /moment is an object/],
  ];
  for (const [params, pattern] of cases) {
    const checked = checkMessage(request(params));
    assert.ok(!checked.ok && pattern.test(checked.error), JSON.stringify(params));
  }
});
