import * as vscode from 'vscode';
import { loadNative, type NativeAddon } from '../../engine/addon';
import { TraceSession } from '../../engine/session';
import { isSnapshot, traceFile, type TraceFile } from '../../engine/traceFile';
import { baseName } from '../../protocol/format';
import { marksOf } from '../../protocol/marks';
import { openOther } from '../commands/compareCommand';
import { Page, type PageModel, type PageTools } from '../page/page';
import type { SessionChange, SessionState } from './session';
import type { Sessions } from './sessions';
import { TraceVerdicts } from './traceVerdicts';

const POLL_MS = 100;

/** A trace in a file: shown while it is read. */
export class SavedTrace implements vscode.CustomDocument {
  readonly verdicts: TraceVerdicts | null;
  private readonly changed = new vscode.EventEmitter<SessionChange>();
  readonly onDidChange = this.changed.event;
  state: SessionState;

  constructor(
    readonly uri: vscode.Uri,
    opened: TraceSession | { error: string },
    readonly session = 'error' in opened ? null : opened,
  ) {
    const file = uri.fsPath;
    this.verdicts = session === null ? null : new TraceVerdicts(session.native, null);
    this.state = 'error' in opened ? failedView(file, opened.error) : readingView(file, opened);
    if (session !== null) void this.read(session);
  }

  private async read(session: TraceSession): Promise<void> {
    session.onChange(() => this.changed.fire('events'));
    session.follow(POLL_MS);
    try {
      await session.native.settle();
      this.state = savedView(this.uri.fsPath, session);
    } catch {
      return; // it was closed meanwhile
    }
    session.pause();
    this.changed.fire('state');
  }

  dispose(): void {
    this.verdicts?.dispose();
    this.session?.close();
    this.changed.dispose();
  }
}

/** Opens a saved trace, or a memory snapshot, in an editor of its own: the same page, without what only a running program has. */
export class SavedTraceEditor implements vscode.CustomReadonlyEditorProvider<SavedTrace> {
  constructor(
    private readonly distPath: string,
    private readonly sessions: Sessions,
    private readonly tools: PageTools,
  ) {}

  async openCustomDocument(uri: vscode.Uri): Promise<SavedTrace> {
    return new SavedTrace(uri, await openSaved(this.distPath, uri.fsPath));
  }

  resolveCustomEditor(document: SavedTrace, panel: vscode.WebviewPanel): void {
    const page = new Page(panel.webview, () => panel.visible, modelOf(document, this.sessions), this.tools);
    panel.onDidChangeViewState(() => page.push());
    panel.onDidDispose(() => page.dispose());
  }
}

/** A saved trace that is being read, or why it cannot be. */
export async function openSaved(dist: string, file: string): Promise<TraceSession | { error: string }> {
  const loaded = loadNative(dist);
  if ('error' in loaded) return loaded;
  try {
    return openTrace(loaded.addon, await traceFile(loaded.addon, file));
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

/** How a trace presents itself while it is read. */
export function readingView(file: string, session: TraceSession): SessionState {
  return { ...savedView(file, session), phase: 'starting', detail: vscode.l10n.t('Reading the trace…') };
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
  const { session, verdicts } = document;
  const cwd = session?.native.info().session.cwd;
  return {
    onDidChange: document.onDidChange,
    session,
    verdicts,
    cwd: typeof cwd === 'string' ? cwd : '/',
    view: () => {
      const info = session?.native.info() ?? null;
      const marks = info === null ? [] : marksOf(info.session);
      return {
        ...document.state,
        id: 0,
        canWiden: false,
        marks,
        sessions: [],
        trusted: vscode.workspace.isTrusted,
        info,
      };
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
