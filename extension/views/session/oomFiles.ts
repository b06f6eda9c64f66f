import { basename } from 'node:path';
import * as vscode from 'vscode';
import { BEHIND_NS, oomDocuments } from '../../analysis/report/oomReport';
import type { TraceSession } from '../../engine/session';
import { keepOomDocument } from '../../capture/traces/keptTraces';
import { textOf } from '../../protocol/inert';
import type { TraceSource } from '../../protocol/trace';
import type { Verdicts } from '../../protocol/verdicts';

/** What is to be said of memory that ran out, as documents in the folder of the kept trace, and where it can be seen. */
export async function writeOomFiles(folder: string, trace: TraceSession, verdicts: Verdicts): Promise<void> {
  const endNs = trace.native.info().durationNs + BEHIND_NS;
  const readAt = async <T>(untilNs: number | null, read: (then: TraceSource) => T): Promise<T> =>
    read(untilNs === null ? trace.native : await trace.moments.at(untilNs));
  for (const { name, lines } of await oomDocuments(trace.native, verdicts, { endNs, readAt })) {
    void offer(keepOomDocument(folder, name, textOf(lines)));
  }
}

async function offer(file: string): Promise<void> {
  const open = vscode.l10n.t('Open');
  const message = vscode.l10n.t('GPU memory ran out. What was alive, and what to try, is in {0}.', basename(file));
  if ((await vscode.window.showWarningMessage(message, open)) !== open) return;
  await vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.file(file));
}
