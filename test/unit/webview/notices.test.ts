import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warnings } from '../../../webview/explorer/shell/notices';
import { makeInfo, makeProcess } from '../fakeTrace';

const withNote = (code: number, text = 'something', processes = 1): ReturnType<typeof warnings> => {
  const noted = makeProcess({ pid: 7, notes: [{ code, text }] });
  return warnings(makeInfo({ processes: [noted, ...Array<typeof noted>(processes - 1).fill(makeProcess({}))] }), 'en');
};

test('a note that something is missing is a warning', () => {
  assert.equal(withNote(1).title, '1 note');
  assert.deepEqual([withNote(1).lines, withNote(1).severe], [['something'], true]);
  assert.deepEqual(withNote(1, 'something', 2).lines, ['Process 7: something']);
});

test('a note on how the trace was made is none', () => {
  assert.equal(withNote(4).title, '');
});

test('a pause that the user chose is no warning, and its time is that of the clock', () => {
  process.env.TZ = 'Asia/Tokyo';
  const { lines, severe } = withNote(13, 'Recording was resumed at 2026-11-29 20:44:16 UTC. Nothing else.');
  assert.deepEqual([lines, severe], [['Recording was resumed at 5:44:16 AM. Nothing else.'], false]);
});
