import './language';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { EngineProcess, startEngine } from './client/engineProcess';
import { FindingDiagnostics } from './editor/findingDiagnostics';
import { fixedIn } from './editor/fixEdit';
import { LineBytes } from './editor/lineBytes';
import { SourceLines } from './editor/sourceLines';
import { followActiveFile, interpreterFor } from './views/commands/chooseLaunch';
import { makeCommands } from './views/commands/commands';
import { Debugging } from './views/commands/debugging';
import { followContextKeys } from './views/session/contextKeys';
import { DoctorPage } from './views/page/doctorPage';
import { ExplorerView } from './views/page/explorer';
import { JobPage, jobFolder } from './views/page/jobPage';
import { SavedTraceEditor } from './views/page/savedTrace';
import { RecentTraces } from './views/session/recentTraces';
import { Sessions } from './views/session/sessions';
import { EXPLORER } from './views/contributedNames';
import { StatusItem } from './views/session/statusBar';
import { findInterpreter } from './views/commands/interpreter';
import { showInEditor, type Shown } from './views/commands/showInEditor';
import { WidePanel } from './views/page/widePanel';

/** What is behind the names that `main.ts` registers. */
export type Parts = ReturnType<typeof makeParts>;

/** Called once; continues with the programs that were traced when the window went. */
export function makeParts(context: vscode.ExtensionContext) {
  const dist = join(context.extensionPath, 'dist');
  const log = vscode.window.createOutputChannel('GPU Memory Trace', { log: true });
  const lines = new SourceLines();
  const tools = { dist: vscode.Uri.joinPath(context.extensionUri, 'dist', 'webview'), log, lines };
  const engine = new EngineProcess(() => startEngine(dist, vscode.l10n.uri?.fsPath), {
    log: text => log.info(text),
    died: (sentence, over) => {
      log.error(sentence);
      void (over ? vscode.window.showErrorMessage(sentence) : vscode.window.showWarningMessage(sentence));
    },
  });
  const recent = new RecentTraces(context.workspaceState);
  const sessions = new Sessions(dist, engine, log, context.workspaceState, recent);
  const doctor = new DoctorPage(dist, engine, tools.dist, () => findInterpreter(undefined));
  const lineBytes = new LineBytes(sessions, lines);
  const explorer = new ExplorerView(sessions, tools);
  const wide = new WidePanel(sessions, tools, () => explorer.visible);
  const savedTraces = new SavedTraceEditor(engine, sessions, tools);
  const debugging = new Debugging(sessions);
  context.subscriptions.push(
    log,
    debugging,
    sessions,
    recent,
    explorer,
    wide,
    lines,
    doctor,
    lineBytes,
    new FindingDiagnostics(sessions, lines),
    new StatusItem(sessions, { onDidEdit: lines.onDidEdit, fixedIn: session => fixedIn(session, lines) }),
    followActiveFile(),
    followContextKeys(sessions),
    engine,
  );
  const memory = context.workspaceState;
  const storage = context.globalStorageUri.fsPath;
  const openJob = (folder: vscode.Uri): void => void new JobPage(jobFolder(folder), engine, tools.dist);
  const pages = { doctor, explorer, wide, openJob };
  const commands = makeCommands({ sessions, engine, memory, dist, storage, log, ...pages, lineBytes, debugging });
  void sessions.resume();
  return {
    commands,
    explorer,
    savedTraces,
    wide,
    debugging,
    interpreterFor,
    /** Shows what began in a terminal of this window. */
    showAnnounced: async (folder: string): Promise<void> => {
      if (await sessions.takeAnnounced(folder))
        await vscode.commands.executeCommand(`${EXPLORER}.focus`, { preserveFocus: true });
    },
    /** What an agent points to; gives what was done. */
    showInEditor: (target: Shown): Promise<string> => showInEditor(sessions, explorer, target),
  };
}
