// Saving views as pictures in VS Code, with the file that its own dialog proposes: by mouse and by keyboard.
import * as assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { freshPage, picture, reached, workspace } from './page';
import { click, press, texts, until } from './window';

const DIALOG = '.quick-input-widget:not([style*="display: none"])';
const INPUT = `${DIALOG} input[type=text]`;
const SIMPLE = 'files.simpleDialog.enable';
const stored = join(
  vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace')?.extensionPath ?? '',
  'test/golden/trace/steps.gputrace',
);
const fileOf = (name: string): string => join(workspace, `pictured-${name}`);
const settings = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration();

describe('Saving a picture in VS Code', () => {
  before(async () => {
    await settings().update(SIMPLE, true, vscode.ConfigurationTarget.Global);
    await freshPage();
    copyFileSync(stored, join(workspace, 'pictured.gputrace'));
    await vscode.commands.executeCommand(
      'gpuMemoryTrace.openTrace',
      vscode.Uri.file(join(workspace, 'pictured.gputrace')),
    );
    await reached('ended');
  });
  after(async () => {
    for (const name of ['timeline.png', 'flame-graph.svg']) rmSync(fileOf(name), { force: true });
    await settings().update(SIMPLE, undefined, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('gpuMemoryTrace.closeSession');
    await vscode.commands.executeCommand('gpuMemoryTrace.explorer.focus');
  });

  const dialog = (): Promise<boolean> =>
    until('the dialog', async () => (await texts(DIALOG)).join('\n').includes('Save as a picture'));
  /** The file, once it has been written to its end: it is there and empty first. */
  const written = (name: string, end: string): Promise<Buffer> =>
    until(name, () => {
      const bytes = existsSync(fileOf(name)) ? readFileSync(fileOf(name)) : Buffer.alloc(0);
      return bytes.subarray(-16).includes(end) ? bytes : null;
    });

  it('the timeline by mouse, as PNG', async () => {
    await click('.timeline [data-action=save-picture]');
    await dialog();
    await picture('save-picture');
    await click(`${DIALOG} .monaco-button:has-text("OK")`);
    const bytes = await written('timeline.png', 'IEND');
    assert.equal(bytes.subarray(0, 8).toString('hex'), '89504e470d0a1a0a');
    assert.ok(bytes.readUInt32BE(16) > 200 && bytes.readUInt32BE(20) > 100, 'it has a size');
  });

  it('the flame graph by keyboard, as SVG', async () => {
    await click('[data-tab=flame]');
    await until('the graph', async () => (await texts('.flame-rect')).length > 1);
    await press('.flame [data-action=save-picture]', 'Enter');
    await dialog();
    await press(INPUT, 'Enter');
    assert.match((await written('flame-graph.svg', '</svg>')).toString(), /^<svg [\s\S]*train\.py[\s\S]*<\/svg>\n$/);
  });

  it('to choose no file is no error', async () => {
    await click('[data-tab=segments]');
    await until('the map', async () => (await texts('[data-value=fragmentation]')).join('') !== '');
    await press('.segments [data-action=save-picture]', 'Enter');
    await dialog();
    await press(INPUT, 'Escape');
    assert.ok(!existsSync(fileOf('segments.png')));
    assert.doesNotMatch((await texts('.explorer')).join('\n'), /could not be|did not answer/);
    await click('[data-tab=lines]');
  });
});
