// When the arguments of a script are asked for: where it reads any, or had some last time.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Memento } from 'vscode';
import { importWith } from '../fakeVscode';

const folder = mkdtempSync(join(tmpdir(), 'prompt-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'train.py');
const settings: Record<string, string> = { pythonPath: '/usr/bin/python3' };
let answer: string | undefined = '--epochs 3';
let asked = 0;
let offered = '';
let chosen: object[] | undefined;
const shown: string[] = [];
const fileUri = { fsPath: file, scheme: 'file', toString: () => file };
class TabInputText {
  uri = fileUri;
}
const tabs = [{ input: new TabInputText() }];
const document = { uri: fileUri, isDirty: false, isUntitled: false, languageId: 'python' };
let activate = (_: object | undefined): void => undefined;
const vscode = {
  l10n: { t: (text: string) => text },
  extensions: { getExtension: () => undefined },
  workspace: {
    getWorkspaceFolder: () => undefined,
    getConfiguration: () => ({ get: (name: string, otherwise: unknown) => settings[name] ?? otherwise }),
  },
  TabInputText,
  window: {
    tabGroups: { all: [{ tabs }] },
    activeTextEditor: { document } as object | undefined,
    onDidChangeActiveTextEditor: (listener: typeof activate) => (activate = listener),
    showOpenDialog: () => Promise.resolve(chosen),
    showTextDocument: ({ fsPath }: typeof fileUri) => Promise.resolve({ document, shown: shown.push(fsPath) }),
    showInputBox: ({ placeHolder }: { placeHolder: string }) => {
      asked++;
      offered = placeHolder;
      return Promise.resolve(answer);
    },
  },
};

/** The arguments of a run, and whether they were asked for. */
async function run(
  source: string,
  memory: Map<string, unknown>,
  asking: 'usual' | 'ifAny' | 'always' = 'usual',
): Promise<[string[] | undefined, boolean]> {
  const { planOfActiveFile } = await importWith(vscode, () => import('../../../extension/views/commands/chooseLaunch'));
  writeFileSync(file, source);
  asked = 0;
  const update = (key: string, value: unknown): Promise<void> => Promise.resolve(void memory.set(key, value));
  const plan = await planOfActiveFile(
    { get: (key: string) => memory.get(key), update } as unknown as Memento,
    () => asking,
  );
  return [plan?.command.slice(2), asked > 0];
}

const READS = 'import argparse\nargparse.ArgumentParser().add_argument("--rate")\n';
const PLAIN = 'import torch\n';
const GIVEN = ['--epochs', '3'];

test('with a tab without text in front the Python file that was active last is traced', async () => {
  const load = () => import('../../../extension/views/commands/chooseLaunch');
  const { activePythonFile, followActiveFile } = await importWith(vscode, load);
  const editor = vscode.window.activeTextEditor;
  vscode.window.activeTextEditor = undefined;
  assert.equal(await activePythonFile(), undefined, 'the dialog was closed');
  followActiveFile();
  const notes = { ...document, uri: { ...document.uri, fsPath: '/x/notes.md' }, languageId: 'markdown' };
  for (const active of [{ document }, { document: notes }, undefined]) activate(active);
  assert.equal((await activePythonFile())?.fsPath, file);
  assert.deepEqual(shown, []);
  tabs.pop();
  assert.equal(await activePythonFile(), undefined, 'its tab was closed');
  chosen = [fileUri];
  assert.equal((await activePythonFile())?.fsPath, file);
  assert.deepEqual(shown, [file], 'it is opened');
  vscode.window.activeTextEditor = editor;
});

test('once: a script that reads none runs at once; one that does is asked for, and then remembered', async () => {
  const memory = new Map<string, unknown>();
  assert.deepEqual(await run(PLAIN, memory), [[], false]);
  assert.deepEqual(await run(READS, memory), [GIVEN, true]);
  assert.equal(offered, '--rate …');
  assert.deepEqual(await run(READS, memory), [GIVEN, false]);
  assert.deepEqual(await run(PLAIN, memory, 'always'), [GIVEN, true], 'new arguments are always asked for');
});

test('after a run that failed at once they are asked for again, where there are any', async () => {
  const memory = new Map<string, unknown>([[`arguments:${file}`, '--epochs 3']]);
  assert.deepEqual(await run(READS, memory, 'ifAny'), [GIVEN, true]);
  assert.deepEqual(await run(PLAIN, new Map(), 'ifAny'), [[], false]);
});

test('always and never; nothing runs where the question is left', async () => {
  settings.askArguments = 'always';
  assert.deepEqual(await run(PLAIN, new Map()), [[], false]);
  assert.deepEqual(await run(PLAIN, new Map([[`arguments:${file}`, '--old']])), [GIVEN, true]);
  answer = undefined;
  assert.deepEqual(await run(READS, new Map()), [undefined, true]);
  settings.askArguments = 'never';
  assert.deepEqual(await run(READS, new Map()), [[], false]);
  assert.deepEqual(await run(READS, new Map(), 'ifAny'), [[], false]);
});
