// The main job, in VS Code: trace a script, read the table, click a row, land on the line.
import * as assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { click, press, rows, shot, texts, until } from './window';

const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
const screenshot = (name: string): Promise<void> => shot(join(process.env.SCREENSHOTS ?? workspace, `${name}.png`));
const script = (name: string): string => join(workspace, name);

async function open(name: string): Promise<void> {
  await vscode.window.showTextDocument(vscode.Uri.file(script(name)));
}

describe('GPU Memory Trace in VS Code', () => {
  it('registers', () => {
    assert.ok(vscode.workspace.workspaceFolders);
  });
});
void [readFileSync, click, press, rows, texts, until, screenshot, open];
