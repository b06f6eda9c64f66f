// Which Python runs a traced file, where the Python extension names none.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { importWith } from '../fakeVscode';

const top = mkdtempSync(join(tmpdir(), 'workspace-'));
test.after(() => rmSync(top, { recursive: true, force: true }));
const uri = (...below: string[]) => ({ fsPath: join(top, ...below) });
const settings: Record<string, unknown> = { pythonPath: '' };
const workspace = {
  isTrusted: true,
  workspaceFolders: [{ uri: uri() }],
  getWorkspaceFolder: () => ({ uri: uri() }),
  getConfiguration: (section: string) => ({
    get: (name: string) => (section === 'gpuMemoryTrace' ? settings[name] : { PATH: join(top, 'path') }),
  }),
};
const vscode = { extensions: { getExtension: () => undefined }, workspace };

function program(...below: string[]): string {
  const file = join(top, ...below);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
  chmodSync(file, 0o755);
  return file;
}

test('the setting, then the virtual environment nearest to the file, then PATH; none of a workspace that is not trusted', async () => {
  const { findInterpreter } = await importWith(vscode, () => import('../../../extension/views/commands/interpreter'));
  const find = (...below: string[]) => findInterpreter(uri(...below) as Parameters<typeof findInterpreter>[0]);
  assert.equal(await find('train.py'), null);
  const onPath = program('path', 'python3');
  assert.equal(await find('train.py'), onPath);
  const own = program('venv', 'bin', 'python');
  assert.equal(await find('sub', 'deep', 'train.py'), own);
  assert.equal(await findInterpreter(undefined), own);
  const dotted = program('.venv', 'bin', 'python');
  assert.equal(await find('train.py'), dotted);
  const nearer = program('sub', '.venv', 'bin', 'python');
  assert.equal(await find('sub', 'deep', 'train.py'), nearer);
  workspace.isTrusted = false;
  assert.equal(await find('train.py'), onPath);
  workspace.isTrusted = true;
  settings.pythonPath = '/opt/python';
  assert.equal(await find('train.py'), '/opt/python');
});
