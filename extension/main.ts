import { join } from 'node:path';
import * as vscode from 'vscode';
import { FindingDiagnostics } from './editor/findingDiagnostics';
import { LineBytes } from './editor/lineBytes';
import { ShownLineVerdicts } from './editor/lineVerdicts';
import { SourceLines } from './editor/sourceLines';
import { registerCommands } from './views/commands';
import { followContextKeys } from './views/contextKeys';
import { DoctorPage } from './views/doctorPage';
import { ExplorerView } from './views/explorer';
import { SavedTraceEditor } from './views/savedTrace';
import { Sessions } from './views/sessions';
import { StatusItem } from './views/statusBar';
import { WidePanel } from './views/widePanel';

export function activate(context: vscode.ExtensionContext): void {
  const dist = join(context.extensionPath, 'dist');
  const log = vscode.window.createOutputChannel('GPU Memory Trace', { log: true });
  const lines = new SourceLines();
  const tools = { dist: vscode.Uri.joinPath(context.extensionUri, 'dist', 'webview'), log, lines };
  const sessions = new Sessions(dist, log, context.workspaceState);
  const doctor = new DoctorPage(dist, tools.dist);
  const lineBytes = new LineBytes(sessions, lines, new ShownLineVerdicts(sessions));
  const explorer = new ExplorerView(sessions, tools);
  const wide = new WidePanel(sessions, tools);
  context.subscriptions.push(
    log,
    sessions,
    explorer,
    wide,
    lines,
    doctor,
    lineBytes,
    new FindingDiagnostics(sessions, lines, log),
    vscode.commands.registerCommand('gpuMemoryTrace.toggleLineBytes', () => lineBytes.toggle()),
    new StatusItem(sessions),
    followContextKeys(sessions),
    vscode.window.registerWebviewViewProvider(ExplorerView.id, explorer),
    ...SavedTraceEditor.ids.map(id =>
      vscode.window.registerCustomEditorProvider(id, new SavedTraceEditor(dist, sessions, tools)),
    ),
    registerCommands({ sessions, memory: context.workspaceState, dist, log, doctor, explorer, wide }),
    vscode.window.registerWebviewPanelSerializer(WidePanel.id, wide),
  );
  sessions.resume();
}
