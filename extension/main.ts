import { join } from 'node:path';
import * as vscode from 'vscode';
import { registerCommands } from './views/commands';
import { followContextKeys } from './views/contextKeys';
import { TraceController } from './views/controller';
import { ExplorerView } from './views/explorer';
import { SavedTraceEditor } from './views/savedTrace';
import { StatusItem } from './views/statusBar';

export function activate(context: vscode.ExtensionContext): void {
  const dist = join(context.extensionPath, 'dist');
  const page = vscode.Uri.joinPath(context.extensionUri, 'dist', 'webview');
  const log = vscode.window.createOutputChannel('GPU Memory Trace', { log: true });
  const controller = new TraceController(dist, log);
  const explorer = new ExplorerView(page, controller, log);
  context.subscriptions.push(
    log,
    controller,
    explorer,
    new StatusItem(controller),
    followContextKeys(controller),
    vscode.window.registerWebviewViewProvider(ExplorerView.id, explorer),
    vscode.window.registerCustomEditorProvider(SavedTraceEditor.id, new SavedTraceEditor(dist, page, log)),
    registerCommands({ controller, memory: context.workspaceState, dist, log }),
  );
}
