// Exporting the shown trace, in VS Code: the format by keyboard and by mouse, the file, and the way to it.
import * as assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetMetadata } from 'hyparquet';
import * as vscode from 'vscode';
import { sentencesOf } from './hostSentences';
import { freshPage, picture, reached, workspace } from './pageActions';
import { click, dismissPicker, fill, press, texts, until } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const PICKER = '.quick-input-widget:not([style*="display: none"])';
const INPUT = `${PICKER} input[type=text]`;
const ROWS = `${PICKER} .quick-input-list .monaco-list-row`;
const NOTE = '.notification-list-item';
const NOTES = `${NOTE}-message`;
const FILES = '.explorer-folders-view .monaco-list-row';
const stored = join(
  vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace')?.extensionPath ?? '',
  'test/golden/trace/steps.gputrace',
);

describe('Exporting a trace in VS Code', () => {
  before(async () => {
    await freshPage();
    copyFileSync(stored, join(workspace, 'exported.gputrace'));
    await vscode.commands.executeCommand(
      'gpuMemoryTrace.openTrace',
      vscode.Uri.file(join(workspace, 'exported.gputrace')),
    );
    await reached('ended');
    await vscode.commands.executeCommand('notifications.clearAll');
  });
  after(async () => {
    await vscode.commands.executeCommand('notifications.clearAll');
    await vscode.commands.executeCommand('gpuMemoryTrace.closeSession');
    await vscode.commands.executeCommand('gpuMemoryTrace.explorer.focus');
  });

  const exportTo = (file: string): Promise<unknown> =>
    Promise.resolve(vscode.commands.executeCommand('gpuMemoryTrace.saveTrace', undefined, vscode.Uri.file(file)));

  it('offers the formats, and takes one by keyboard', async () => {
    const file = join(workspace, 'x.csv');
    const done = exportTo(file);
    const offered = (await until('the formats', async () => (await texts(ROWS)).join('\n'))).split('\n');
    assertSentence(offered.join('\n'));
    await picture('export-formats');
    await fill(INPUT, 'spreadsheets');
    await until('the one', async () => (await texts(ROWS)).length === 1);
    await press(INPUT, 'Enter');
    await done;
    assert.match(readFileSync(file, 'utf8'), /^address,bytes,layer,.*\r\n0x/);
  });

  it('takes one by mouse, and leads to the file', async () => {
    await vscode.commands.executeCommand('notifications.clearAll');
    const file = join(workspace, 'x.parquet');
    const done = exportTo(file);
    await until('the formats', async () => (await texts(ROWS)).length > 0);
    await click(`${ROWS}[aria-label*="Parquet"]`);
    await done;
    assert.ok(parquetMetadata(Uint8Array.from(readFileSync(file)).buffer).num_rows > 0);
    await vscode.commands.executeCommand('notifications.showList');
    const notes = await until('the notification', async () => (await texts(NOTES)).find(text => text.includes(file)));
    assertSentence(notes.replace(file, 'FILE'));
    await picture('export-done');
    await until('the file in the explorer', async () => {
      // A click while the notifications are drawn anew reaches nothing.
      await click(`${NOTE}:has-text("${file}") .monaco-button:has-text("Show")`).catch(() => undefined);
      return (await texts(FILES)).join('\n').includes('x.parquet');
    });
  });

  it('writes the page as one file', async () => {
    const file = join(workspace, 'x.html');
    await vscode.commands.executeCommand('gpuMemoryTrace.saveTrace', 'html', vscode.Uri.file(file));
    const html = readFileSync(file, 'utf8');
    assert.match(html, /<meta http-equiv="Content-Security-Policy" content="default-src 'none'/);
    assert.match(html, /id="recorded">[\w+/=]{10000}/);
  });

  it('nothing is written when no format is chosen', async () => {
    await vscode.commands.executeCommand('notifications.clearAll');
    const file = join(workspace, 'never.csv');
    const done = exportTo(file);
    await until('the formats', async () => (await texts(ROWS)).length > 0);
    await dismissPicker();
    await done;
    assert.ok(!existsSync(file));
  });
});
