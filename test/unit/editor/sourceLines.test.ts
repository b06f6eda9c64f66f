import assert from 'node:assert/strict';
import { mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { importWith } from '../fakeVscode';

const path = join(mkdtempSync(join(tmpdir(), 'gmt-lines-')), 'train.py');
const document = { uri: { scheme: 'file', fsPath: path }, version: 1, getText: () => 'in the editor' };
const textDocuments: object[] = [];
const vscode = {
  EventEmitter: class {
    event = () => undefined;
  },
  workspace: { textDocuments, onDidChangeTextDocument: () => undefined },
};

test('a file is read once until it changes, on disk or in its editor', async () => {
  const { SourceLines } = await importWith(vscode, () => import('../../../extension/editor/sourceLines'));
  const lines = new SourceLines();
  writeFileSync(path, 'a\nb');
  const first = lines.text(path);
  assert.deepEqual(first, ['a', 'b']);
  assert.equal(lines.text(path), first, 'it is not read again');
  writeFileSync(path, 'c');
  utimesSync(path, 1, 1);
  assert.deepEqual(lines.text(path), ['c']);
  textDocuments.push(document);
  const open = lines.text(path);
  assert.deepEqual(open, ['in the editor']);
  assert.equal(lines.text(path), open);
  Object.assign(document, { version: 2, getText: () => 'edited' });
  assert.deepEqual(lines.text(path), ['edited']);
  textDocuments.pop();
  assert.deepEqual(lines.text(path), ['c']);
});
