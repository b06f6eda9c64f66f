// A start on a machine without a GPU: one sentence on what is missing, and the ways out.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeVscode } from '../fakeVscode';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const shown: unknown[][] = [];
let answer: string | undefined;
fakeVscode({
  l10n: { t: (text: string, ...values: unknown[]) => text.replace(/\{(\d)\}/g, (_, i: string) => String(values[+i])) },
  window: {
    showErrorMessage: (...given: unknown[]) => {
      shown.push(given);
      return Promise.resolve(answer);
    },
  },
  workspace: { getConfiguration: () => ({ get: () => ({ LD_LIBRARY_PATH: '', PATH: '/nowhere' }) }) },
});

const plan = (environment: Record<string, string>) => ({
  title: 'train.py',
  command: ['python3'],
  cwd: '/',
  environment,
});

test('what is missing is one sentence; a driver that the program’s environment names is one', async t => {
  if (existsSync('/dev/nvidiactl')) return t.skip('this machine has a GPU');
  const { missingGpu } = await import('../../../extension/views/commands/withoutGpu');
  assertSentence(await missingGpu(plan({})));
  const folder = mkdtempSync(join(tmpdir(), 'driver-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'libcuda.so.1'), '');
  assert.equal(await missingGpu(plan({ LD_LIBRARY_PATH: folder })), null);
});

test('its dialog offers the sample and the check page, and no more', async () => {
  const { offerWithoutGpu } = await import('../../../extension/views/commands/withoutGpu');
  assert.equal(await offerWithoutGpu('No GPU.'), null);
  const [[sentence, options, ...buttons] = []] = shown;
  assert.equal(sentence, 'No GPU.');
  assert.equal((options as { modal: boolean }).modal, true);
  assertSentence(buttons.join('\n'));
  const taken = [];
  for (answer of buttons as string[]) taken.push(await offerWithoutGpu('No GPU.'));
  assert.deepEqual(taken, ['trySample', 'doctor']);
});
