import * as vscode from 'vscode';
import { loadNative } from '../engine/addon';
import { TraceSession } from '../engine/session';
import { baseName } from '../protocol/format';
import type { SessionView } from '../protocol/messages';
import { Page, type PageModel } from './page';

interface SavedTrace extends vscode.CustomDocument {
  session: TraceSession | null;
  view: SessionView;
}

/** Opens a saved trace in an editor of its own: the same page, without what only a running program has. */
export class SavedTraceEditor implements vscode.CustomReadonlyEditorProvider<SavedTrace> {
  static readonly id = 'gpuMemoryTrace.savedTrace';

  constructor(
    private readonly distPath: string,
    private readonly dist: vscode.Uri,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  async openCustomDocument(uri: vscode.Uri): Promise<SavedTrace> {
    const opened = await openSaved(this.distPath, uri.fsPath);
    const session = 'error' in opened ? null : opened;
    const view = 'error' in opened ? failedView(uri, opened.error) : savedView(uri.fsPath, opened);
    return { uri, session, view, dispose: () => session?.close() };
  }

  resolveCustomEditor(document: SavedTrace, panel: vscode.WebviewPanel): void {
    const page = new Page(panel.webview, () => panel.visible, modelOf(document), this.log, this.dist);
    panel.onDidChangeViewState(() => page.push());
    panel.onDidDispose(() => page.dispose());
  }
}

/** A saved trace, read to its end, or why it cannot be read. */
export async function openSaved(dist: string, file: string): Promise<TraceSession | { error: string }> {
  const loaded = loadNative(dist);
  if ('error' in loaded) return loaded;
  try {
    const session = new TraceSession(loaded.addon, file);
    await session.native.settle();
    return session;
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** How a saved trace presents itself. */
export function savedView(file: string, session: TraceSession): SessionView {
  const info = session.native.info();
  const when = new Date(info.startRealtimeMs).toLocaleString();
  return {
    phase: 'ended',
    title: baseName(file),
    detail: vscode.l10n.t('A saved trace, recorded {0}.', when),
    simulated: info.processes.some(process => process.simulated),
    recording: false,
    exitCode: null,
    trusted: vscode.workspace.isTrusted,
    info,
  };
}

function failedView(uri: vscode.Uri, error: string): SessionView {
  const trusted = vscode.workspace.isTrusted;
  const title = baseName(uri.fsPath);
  return {
    phase: 'failed',
    title,
    detail: error,
    simulated: false,
    recording: false,
    exitCode: null,
    trusted,
    info: null,
  };
}

function modelOf(document: SavedTrace): PageModel {
  const cwd = document.session?.native.info().session.cwd;
  return {
    onDidChange: () => new vscode.Disposable(() => undefined),
    session: document.session,
    cwd: typeof cwd === 'string' ? cwd : '/',
    view: () => ({ ...document.view, trusted: vscode.workspace.isTrusted }),
    setRecording: () => {
      throw new Error(vscode.l10n.t('A saved trace records nothing.'));
    },
    press: button => {
      if (button === 'start') void vscode.commands.executeCommand('gpuMemoryTrace.start');
      if (button === 'save') void saveCopy(document.uri);
    },
  };
}

async function saveCopy(source: vscode.Uri): Promise<void> {
  const target = await vscode.window.showSaveDialog({ defaultUri: source });
  if (target === undefined || target.fsPath === source.fsPath) return;
  await vscode.workspace.fs.copy(source, target, { overwrite: true });
}
