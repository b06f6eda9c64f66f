import assert from 'node:assert/strict';
import { mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Finding } from '../../../extension/protocol/verdicts';
import { importWith } from '../fakeVscode';

const vscode = {
  EventEmitter: class {
    event = () => undefined;
  },
  workspace: { textDocuments: [], onDidChangeTextDocument: () => undefined },
};
const SINCE_MS = 1e12;

test('a fix that was written by hand is one, if it was not there when the program started', async () => {
  const { SourceLines } = await importWith(vscode, () => import('../../../extension/editor/sourceLines'));
  const { isFixed } = await importWith(vscode, () => import('../../../extension/editor/fixEdit'));
  const file = join(mkdtempSync(join(tmpdir(), 'gmt-fix-')), 'meter.py');
  const finding = { suggestion: 'Store `.detach()`.', holder: { file, line: 2 } } as unknown as Finding;
  const write = (line: string, atMs: number): void => {
    writeFileSync(file, `class Meter:\n${line}\n`);
    utimesSync(file, atMs / 1000, atMs / 1000);
  };
  const lines = new SourceLines();
  const fixed = (with_ = lines): boolean =>
    isFixed(finding, { folders: { cwd: '/', beside: null }, sinceMs: SINCE_MS }, with_);
  write('total = total + value.cpu() * n', SINCE_MS - 9e3);
  assert.equal(fixed(), false);
  write('total = total + value.detach().cpu() * n', SINCE_MS + 9e3);
  assert.equal(fixed(), true);
  finding.suggestion = 'Move it to the CPU (`.detach().cpu()`).';
  assert.equal(fixed(), false, 'without its graph it is still there');
  write('total = total + value.cpu() * n  # detach', SINCE_MS + 20e3);
  assert.equal(fixed(), false);
  write('total = total + value.detach() * n', SINCE_MS + 30e3);
  assert.equal(fixed(new SourceLines()), false, 'what the program read is not known');
});
