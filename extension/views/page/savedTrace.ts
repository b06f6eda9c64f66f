import * as vscode from 'vscode';
import type { EngineProcess } from '../../client/engineProcess';
import { isSnapshot } from '../../files/snapshotFile';
import { baseName } from '../../text/format';
import { exportFile } from '../session/exportFile';
import { OpenTrace } from '../session/openTrace';
import { openOther } from '../session/pickTrace';
import type { Sessions } from '../session/sessions';
import type { PageModel, PageTools } from './model';
import { Page } from './page';

/** A trace in a file, as a document of the editor. */
export class SavedTrace extends OpenTrace implements vscode.CustomDocument {
  constructor(
    readonly uri: vscode.Uri,
    engine: EngineProcess,
  ) {
    super(baseName(uri.fsPath), engine);
  }
}

/** Opens a saved trace, or a memory snapshot, in an editor of its own: the same page, without what only a running program has. */
export class SavedTraceEditor implements vscode.CustomReadonlyEditorProvider<SavedTrace> {
  constructor(
    private readonly engine: EngineProcess,
    private readonly sessions: Sessions,
    private readonly tools: PageTools,
  ) {}

  /** Of a file that cannot be read the page shows why. */
  async openCustomDocument(uri: vscode.Uri): Promise<SavedTrace> {
    const document = new SavedTrace(uri, this.engine);
    document.onDidChange(() => this.sessions.noteRecent(document, uri.fsPath));
    try {
      await document.openFile(uri.fsPath);
    } catch (error) {
      document.fail(error instanceof Error ? error.message : String(error));
    }
    return document;
  }

  resolveCustomEditor(document: SavedTrace, panel: vscode.WebviewPanel): void {
    new Page(panel, modelOf(document, this.sessions), this.tools);
  }
}

function modelOf(document: SavedTrace, sessions: Sessions): PageModel {
  return {
    onDidChange: document.onDidChange,
    shown: document,
    view: () => ({ ...document.view(), canWiden: false, sessions: [] }),
    setLate: (page, late) => late && document.setLate(page, true),
    answered: page => document.setLate(page, false),
    setMoment: ({ id: _, ...moment }) => document.setMoment(moment),
    showSession: () => undefined,
    closeSession: () => undefined,
    openRecent: () => undefined,
    traces: () => sessions.traces(),
    openOther: () => openOther(sessions),
    setRecording: () => Promise.reject(new Error(vscode.l10n.t('Recording cannot be resumed in a saved trace.'))),
    press: button => {
      if (button === 'start' || button === 'traceAgain')
        void vscode.commands.executeCommand(`gpuMemoryTrace.${button}`);
      if (button === 'save') void saveCopy(document);
      if (button === 'savePage') void savePage(document);
    },
  };
}

/** A snapshot is saved as the trace that was made of it. */
async function saveCopy(document: SavedTrace): Promise<void> {
  const { uri } = document;
  const snapshot = isSnapshot(uri.fsPath);
  const defaultUri = snapshot ? uri.with({ path: `${uri.path}.gputrace` }) : uri;
  const target = await vscode.window.showSaveDialog({ defaultUri });
  if (target === undefined || target.fsPath === uri.fsPath) return;
  if (!snapshot) return vscode.workspace.fs.copy(uri, target, { overwrite: true });
  await document.request('save', { file: target.fsPath });
}

async function savePage(document: SavedTrace): Promise<void> {
  const { uri } = document;
  const defaultUri = uri.with({ path: `${uri.path.replace(/\.\w+$/, '')}.html` });
  const target = await vscode.window.showSaveDialog({ defaultUri, filters: { html: ['html'] } });
  if (target === undefined) return;
  await exportFile(document, 'html', target).catch((error: unknown) =>
    vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error)),
  );
}
