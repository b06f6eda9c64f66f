import * as vscode from 'vscode';
import type { Sessions } from './sessions';

/** Lets the user choose a saved trace or a memory snapshot. Undefined: the user went away. */
export async function pickTrace(title: string): Promise<vscode.Uri | undefined> {
  const filters = { [vscode.l10n.t('GPU memory traces')]: ['gputrace', 'pickle', 'pkl', 'gz', 'zip'] };
  return (await vscode.window.showOpenDialog({ title, filters }))?.[0];
}

/** Lets the user choose a saved trace to compare with; its number in the window, or null. */
export async function openOther(sessions: Sessions): Promise<number | null> {
  const file = await pickTrace(vscode.l10n.t('Compare with a GPU memory trace'));
  return file === undefined ? null : sessions.open(file.fsPath, false);
}
