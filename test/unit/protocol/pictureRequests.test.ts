import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_PICTURE } from '../../../extension/protocol/requests/pictureRequests';
import { checkMessage } from '../../../extension/protocol/requests/validate';

const png = 'iVBORw0KGgoAAAANSUhEUg==';
const request = (params: unknown): unknown => ({ type: 'request', id: 1, method: 'savePicture', params });

test('a picture passes unchanged', () => {
  for (const params of [
    { name: 'timeline', format: 'png', data: png },
    { name: 'flame-graph', format: 'svg', data: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
    { name: 'segments', format: 'png', data: 'iVBORw0KGgo'.padEnd(MAX_PICTURE, 'A') },
  ])
    assert.deepEqual(checkMessage(request(params)), { ok: true, message: request(params) });
});

test('what is no picture, or too much, is named', () => {
  const cases: [unknown, RegExp][] = [
    [null, /parameters of savePicture are an object/],
    [{ name: '../x', format: 'png', data: png }, /name is one of timeline, flame-graph, segments/],
    [{ name: 'timeline', format: 'exe', data: png }, /format is one of svg, png/],
    [{ name: 'timeline', format: 'png', data: 5 }, /data is a text/],
    [{ name: 'timeline', format: 'png', data: `${png}\n` }, /data is a PNG as base64/],
    [{ name: 'timeline', format: 'png', data: 'AAAA' }, /data is a PNG as base64/],
    [{ name: 'timeline', format: 'svg', data: '<html>' }, /data is an SVG document/],
    [{ name: 'timeline', format: 'svg', data: '<svg '.padEnd(MAX_PICTURE + 1, 'x') }, /data is a text of up to/],
  ];
  for (const [params, says] of cases) {
    const checked = checkMessage(request(params));
    assert.ok(!checked.ok && says.test(checked.error), JSON.stringify(checked).slice(0, 200));
  }
});
