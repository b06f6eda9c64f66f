import * as vscode from 'vscode';
import type { ComparePoint } from '../../protocol/requests/compareRequests';
import { pickTrace } from '../session/pickTrace';
import type { Sessions } from '../session/sessions';

/**
 * Shows the end of a saved trace beside that of another one. `files`: both, the earlier one first; with none, what is
 * shown is compared with a trace that is asked for.
 */
export async function compareTraces(
  sessions: Sessions,
  files: readonly vscode.Uri[],
  show: (a: ComparePoint, b: ComparePoint) => Promise<void>,
): Promise<void> {
  const before = files[0] ?? (await pickTrace(vscode.l10n.t('Compare: the earlier trace')));
  if (before === undefined) return;
  if (files.length > 0 || sessions.session === null) {
    const after = files[1] ?? (await pickTrace(vscode.l10n.t('Compare: the later trace')));
    if (after === undefined) return;
    await sessions.open(after.fsPath);
  }
  const trace = await sessions.open(before.fsPath, false);
  await show({ trace, timeNs: null }, { trace: 0, timeNs: null });
}
