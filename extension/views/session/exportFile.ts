import * as vscode from 'vscode';
import { reasonOf } from '../../capture/traces/traceDirectory';
import type { ExportFormat } from '../../protocol/exportFormats';
import type { OpenTrace } from './openTrace';
import { Refused } from './refused';

/** Writes a trace in a format of another tool, and shows where. Rejects with a sentence. */
export async function exportFile(traced: OpenTrace, format: ExportFormat, file: vscode.Uri): Promise<void> {
  if (await write(traced, format, file.fsPath)) void showExported(file);
}

/** False: the user stopped it, and nothing of the file is left. Rejects with a sentence. */
async function write(traced: OpenTrace, format: ExportFormat, file: string): Promise<boolean> {
  const abort = new AbortController();
  const title = vscode.l10n.t('Exporting the trace');
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  try {
    return await vscode.window.withProgress(options, (progress, token) => {
      token.onCancellationRequested(() => abort.abort());
      return traced.export(format, file, abort.signal, percentOf(progress));
    });
  } catch (error) {
    throw new Refused(vscode.l10n.t('{0} could not be written: {1}.', file, reasonOf(error)));
  }
}

function percentOf(progress: vscode.Progress<{ message?: string; increment?: number }>): (done: number) => void {
  let reported = 0;
  return done => {
    const percent = Math.floor(done * 100);
    if (percent === reported) return;
    progress.report({ message: `${percent}%`, increment: percent - reported });
    reported = percent;
  };
}

async function showExported(file: vscode.Uri): Promise<void> {
  const show = vscode.l10n.t('Show');
  const answer = await vscode.window.showInformationMessage(vscode.l10n.t('Trace exported to {0}', file.fsPath), show);
  if (answer !== show) return;
  const inside = vscode.workspace.getWorkspaceFolder(file) !== undefined;
  await vscode.commands.executeCommand(inside ? 'revealInExplorer' : 'revealFileInOS', file);
}
