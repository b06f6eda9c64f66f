// Every text that is shown can be translated: it is a literal, and has an argument for each of its places.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(__dirname, '../../../..');

test('all texts of host and pages are found, and are literals with the arguments that they name', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'test/project/l10n.mjs'), '--check']);
  assert.equal(status, 0, stderr.toString());
  assert.ok(Number.parseInt(stdout.toString()) > 500, stdout.toString());
});
