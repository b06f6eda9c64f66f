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
  vscode.languages.getDiagnostics(vscode.Uri.file(file)).filter(entry => entry.source?.startsWith('GPU Memory Trace'));

/** What the light bulb offers there. VS Code lets go of the text of a file that no editor shows, and then refuses. */
export async function actionsAt(file: string, range: vscode.Range): Promise<vscode.CodeAction[]> {
  const { uri } = await vscode.workspace.openTextDocument(file);
  return vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', uri, range);
}
