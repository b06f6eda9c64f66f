import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warnings } from '../../../webview/explorer/shell/notices';
import { makeInfo, makeProcess } from '../fakeTrace';

const withNote = (code: number): ReturnType<typeof warnings> =>
  warnings(makeInfo({ processes: [makeProcess({ notes: [{ code, text: 'something' }] })] }));

test('a note that something is missing is a warning', () => {
  assert.equal(withNote(1).title, '1 note');
  assert.match(withNote(1).lines[0] ?? '', /something$/);
});

test('a note on how the trace was made is none', () => {
  assert.deepEqual(withNote(4), { title: '', lines: [] });
});
