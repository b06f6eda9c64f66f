import { join } from 'node:path';
import * as vscode from 'vscode';
import { registerCommands } from './views/commands';
import { followContextKeys } from './views/contextKeys';
import { TraceController } from './views/controller';
import { ExplorerView } from './views/explorer';
import { StatusItem } from './views/statusBar';

export function activate(context: vscode.ExtensionContext): void {
  const dist = join(context.extensionPath, 'dist');
  const log = vscode.window.createOutputChannel('GPU Memory Trace', { log: true });
  const controller = new TraceController(dist, log);
  const explorer = new ExplorerView(context.extensionUri, controller, log);
  context.subscriptions.push(
    log,
    controller,
    explorer,
    new StatusItem(controller),
    followContextKeys(controller),
    vscode.window.registerWebviewViewProvider(ExplorerView.id, explorer),
    registerCommands({ controller, memory: context.workspaceState, dist, log }),
  );
}
