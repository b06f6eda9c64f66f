import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonChunks } from '../../extension/cli/report/jsonChunks';

const written = (document: object): string => [...jsonChunks(document)].join('');

test('the pieces are the document as JSON.stringify indents it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), document => {
      const plain = Object.fromEntries(Object.entries(document));
      assert.equal(written(plain), `${JSON.stringify(plain, null, 2)}\n`);
    }),
  );
});

test('what is made as it is written stands there as an array', () => {
  function* made(): Generator<{ id: number; none: undefined }> {
    for (let id = 0; id < 200; id++) yield { id, none: undefined };
  }
  const document = { first: 1, none: undefined, made: made(), last: [] };
  assert.equal(written(document), `${JSON.stringify({ ...document, made: [...made()] }, null, 2)}\n`);
});

test('no piece grows with the document, and none is made before the one before was taken', () => {
  let count = 0;
  function* made(): Generator<{ text: string }> {
    for (; count < 10_000; count++) yield { text: 'x'.repeat(100) };
  }
  for (const piece of jsonChunks({ made: made() })) {
    assert.ok(piece.length < 200_000, `${piece.length}`);
    if (count < 9_000) assert.ok(count < 2_000, 'all was made before the first piece');
    break;
  }
});
