// What the host tests know of a leak: its card, its entry in Problems, its line.
import * as vscode from 'vscode';
import { until } from './window';

/** The card of a leak; and of that or of what grows so far, or grew until the end, as before it is known who holds it. */
export const LEAK = '[data-finding][data-verdict=leak]';
export const GROWTH = '[data-finding]:is([data-verdict=leak], [data-verdict=rising], [data-verdict=rose])';

export function isCursorAt(file: string, line: number): boolean {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.uri.fsPath === file && editor.selection.active.line === line - 1;
}
export const cursorAt = (file: string, line: number): Promise<true> =>
  until(`the cursor on line ${line}`, () => isCursorAt(file, line) as true);

export const problems = (file: string): vscode.Diagnostic[] =>
  vscode.languages.getDiagnostics(vscode.Uri.file(file)).filter(entry => entry.source === 'GPU Memory Trace');

/** What the light bulb offers there. */
export const actionsAt = (file: string, range: vscode.Range): Thenable<vscode.CodeAction[]> =>
  vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', vscode.Uri.file(file), range);
