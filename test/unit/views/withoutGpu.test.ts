// A start on a machine without a GPU: one sentence on what is missing.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sentencesOf } from '../../sentences.mjs';
import { importWith } from '../fakeVscode';

const { test, assertSentence } = sentencesOf(__filename);

const vscode = {
  l10n: { t: (text: string) => text },
  workspace: { getConfiguration: () => ({ get: () => ({ LD_LIBRARY_PATH: '', PATH: '/nowhere' }) }) },
};

test('what is missing is one sentence; a driver that the program’s environment names is one', async t => {
  if (existsSync('/dev/nvidiactl')) return t.skip('this machine has a GPU');
  const { missingGpu } = await importWith(vscode, () => import('../../../extension/views/commands/withoutGpu'));
  assertSentence(await missingGpu({}));
  const folder = mkdtempSync(join(tmpdir(), 'driver-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'libcuda.so.1'), '');
  assert.equal(await missingGpu({ LD_LIBRARY_PATH: folder }), null);
});
