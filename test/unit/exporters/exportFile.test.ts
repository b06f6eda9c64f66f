import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { writeWholeFrom } from '../../../extension/files/files';

function place(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-export-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function* chunks(until: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < 3; i++) {
    if (i === until) throw new Error('interrupted');
    yield Promise.resolve(Buffer.from(`${i},`.repeat(1000)));
  }
}

test('the file has all pieces in order', async t => {
  const folder = place(t);
  await writeWholeFrom(join(folder, 'x'), chunks(3));
  assert.equal(readFileSync(join(folder, 'x'), 'utf8'), ['0,', '1,', '2,'].map(part => part.repeat(1000)).join(''));
  assert.deepEqual(readdirSync(folder), ['x']);
});

test('what breaks off leaves nothing, and what was there before', async t => {
  const folder = place(t);
  writeFileSync(join(folder, 'old'), 'as it was');
  for (const name of ['new', 'old']) await assert.rejects(writeWholeFrom(join(folder, name), chunks(2)), /interrupted/);
  assert.deepEqual(readdirSync(folder), ['old']);
  assert.equal(readFileSync(join(folder, 'old'), 'utf8'), 'as it was');
});
