import * as vscode from 'vscode';
import { loadNative, type NativeAddon } from '../engine/addon';
import { TraceSession } from '../engine/session';
import { isSnapshot, traceFile, type TraceFile } from '../engine/traceFile';
import { baseName } from '../protocol/format';
import { marksOf } from '../protocol/marks';
import { openOther } from './compareCommand';
import { Page, type PageModel } from './page';
import type { SessionState } from './session';
import type { Sessions } from './sessions';
import { TraceVerdicts } from './traceVerdicts';

interface SavedTrace extends vscode.CustomDocument {
  session: TraceSession | null;
  verdicts: TraceVerdicts | null;
  state: SessionState;
}

/** Opens a saved trace, or a memory snapshot, in an editor of its own: the same page, without what only a running program has. */
export class SavedTraceEditor implements vscode.CustomReadonlyEditorProvider<SavedTrace> {
  static readonly ids = ['gpuMemoryTrace.savedTrace', 'gpuMemoryTrace.snapshot'];

  constructor(
    private readonly distPath: string,
    private readonly dist: vscode.Uri,
    private readonly sessions: Sessions,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  async openCustomDocument(uri: vscode.Uri): Promise<SavedTrace> {
    const opened = await openSaved(this.distPath, uri.fsPath);
    const session = 'error' in opened ? null : opened;
    const state = 'error' in opened ? failedView(uri.fsPath, opened.error) : savedView(uri.fsPath, opened);
    const verdicts = session === null ? null : new TraceVerdicts(session.native, null);
    const dispose = (): void => {
      verdicts?.dispose();
      session?.close();
    };
    return { uri, session, verdicts, state, dispose };
  }

  resolveCustomEditor(document: SavedTrace, panel: vscode.WebviewPanel): void {
    const page = new Page(panel.webview, () => panel.visible, modelOf(document, this.sessions), this.log, this.dist);
    panel.onDidChangeViewState(() => page.push());
    panel.onDidDispose(() => page.dispose());
  }
}

/** A saved trace, read to its end, or why it cannot be read. */
export async function openSaved(dist: string, file: string): Promise<TraceSession | { error: string }> {
  const loaded = loadNative(dist);
  if ('error' in loaded) return loaded;
  try {
    const trace = await traceFile(loaded.addon, file);
    const session = openTrace(loaded.addon, trace);
    await session.native.settle();
    return session;
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function openTrace(addon: NativeAddon, trace: TraceFile): TraceSession {
  try {
    return new TraceSession(addon, trace.path, () => trace.release());
  } catch (error) {
    trace.release();
    throw error;
  }
}

/** How a saved trace presents itself. */
export function savedView(file: string, session: TraceSession): SessionState {
  const info = session.native.info();
  const when = new Date(info.startRealtimeMs).toLocaleString();
  return {
    phase: 'ended',
    title: baseName(file),
    detail: isSnapshot(file)
      ? vscode.l10n.t('A memory snapshot of PyTorch, whose history begins {0}.', when)
      : vscode.l10n.t('A saved trace, recorded {0}.', when),
    simulated: info.processes.some(process => process.simulated),
    recording: false,
    exitCode: null,
  };
}

function failedView(file: string, error: string): SessionState {
  return {
    phase: 'failed',
    title: baseName(file),
    detail: error,
    simulated: false,
    recording: false,
    exitCode: null,
  };
}

function modelOf(document: SavedTrace, sessions: Sessions): PageModel {
  const { session, verdicts, state } = document;
  const cwd = session?.native.info().session.cwd;
  return {
    onDidChange: () => new vscode.Disposable(() => undefined),
    session,
    verdicts,
    cwd: typeof cwd === 'string' ? cwd : '/',
    view: () => {
      const info = session?.native.info() ?? null;
      const marks = info === null ? [] : marksOf(info.session);
      return { ...state, id: 0, canWiden: false, marks, sessions: [], trusted: vscode.workspace.isTrusted, info };
    },
    showSession: () => undefined,
    closeSession: () => undefined,
    others: () =>
      sessions.all.flatMap(({ id, title, trace }) => (trace === null ? [] : [{ id, title, session: trace }])),
    openOther: () => openOther(sessions),
    setRecording: () => {
      throw new Error(vscode.l10n.t('A saved trace records nothing.'));
    },
    press: button => {
      if (button === 'start') void vscode.commands.executeCommand('gpuMemoryTrace.start');
      if (button === 'save') void saveCopy(document);
    },
  };
}

/** A snapshot is saved as the trace that was made of it. */
async function saveCopy({ uri, session }: SavedTrace): Promise<void> {
  const snapshot = isSnapshot(uri.fsPath);
  const defaultUri = snapshot ? uri.with({ path: `${uri.path}.gputrace` }) : uri;
  const target = await vscode.window.showSaveDialog({ defaultUri });
  if (target === undefined || target.fsPath === uri.fsPath) return;
  if (!snapshot) return vscode.workspace.fs.copy(uri, target, { overwrite: true });
  await session?.native.save(target.fsPath, '');
}
