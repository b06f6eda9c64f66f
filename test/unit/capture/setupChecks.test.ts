import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diagnose } from '../../../extension/capture/checks/diagnose';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const HAS_GPU = existsSync('/proc/driver/nvidia/gpus');

test('a driver that finds no GPU is not to be installed again', { skip: HAS_GPU }, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'diagnose-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'libcuda.so.1'), '');
  const environment = { PATH: '', LD_LIBRARY_PATH: folder, XDG_CACHE_HOME: folder };
  const [gpu] = (await diagnose(folder, environment, null, null)).checks;
  assert.deepEqual([gpu?.name, gpu?.state], ['GPU and driver', 'missing']);
  assertSentence(gpu?.fix ?? '');
});
