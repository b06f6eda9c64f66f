import * as vscode from 'vscode';
import type { Parts } from './parts';
import type { SavedTrace } from './views/page/savedTrace';
import type { Shown } from './views/commands/showInEditor';
import {
  COMMANDS,
  EXPLORER,
  MCP_SERVERS,
  RUNNING_SESSIONS,
  SHOW_TOOL,
  TRACE_EDITORS,
  WIDE,
} from './views/contributedNames';
import { terminalWays } from './views/commands/terminalWays';

/**
 * Registers what the manifest names, and no more: a window that starts waits for this. All else is in a file of its own, which
 * is read when the first of it is needed, or at once where a program is traced.
 */
export function activate(context: vscode.ExtensionContext): void {
  let made: Promise<Parts> | undefined;
  const parts = (): Promise<Parts> => (made ??= import('./parts').then(({ makeParts }) => makeParts(context)));
  const editor: vscode.CustomReadonlyEditorProvider<SavedTrace> = {
    openCustomDocument: async uri => (await parts()).savedTraces.openCustomDocument(uri),
    resolveCustomEditor: async (document, panel) => (await parts()).savedTraces.resolveCustomEditor(document, panel),
  };
  context.subscriptions.push(
    ...COMMANDS.map(name =>
      vscode.commands.registerCommand(`gpuMemoryTrace.${name}`, async (...given: unknown[]) =>
        (await parts()).commands[name](...given),
      ),
    ),
    vscode.window.registerWebviewViewProvider(EXPLORER, {
      resolveWebviewView: async view => (await parts()).explorer.resolveWebviewView(view),
    }),
    vscode.window.registerWebviewPanelSerializer(WIDE, {
      deserializeWebviewPanel: async panel => (await parts()).wide.deserializeWebviewPanel(panel),
    }),
    vscode.lm.registerMcpServerDefinitionProvider(MCP_SERVERS, {
      onDidChangeMcpServerDefinitions: vscode.workspace.onDidGrantWorkspaceTrust,
      provideMcpServerDefinitions: () => (vscode.workspace.isTrusted ? [mcpServer(context)] : []),
    }),
    vscode.lm.registerTool<Shown>(SHOW_TOOL, {
      invoke: async ({ input }) => {
        const text = await (await parts()).showInEditor(input);
        return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
      },
    }),
    // Behind the debugger's own provider, which has read what `envFile` names.
    vscode.debug.registerDebugConfigurationProvider('*', {
      resolveDebugConfigurationWithSubstitutedVariables: async (folder, configuration) =>
        isTraced(configuration) ? (await parts()).debugging.resolve(folder, configuration) : configuration,
    }),
    terminalWays(
      context,
      async folder => (await parts()).interpreterFor(folder),
      async folder => (await parts()).showAnnounced(folder),
    ),
    ...TRACE_EDITORS.map(id => vscode.window.registerCustomEditorProvider(id, editor)),
  );
  if (context.workspaceState.get<unknown[]>(RUNNING_SESSIONS, []).length > 0) void parts();
}

/** The command line, run by the editor's own Node.js. */
function mcpServer({ extension }: vscode.ExtensionContext): vscode.McpStdioServerDefinition {
  const cli = vscode.Uri.joinPath(extension.extensionUri, 'dist', 'cli.js').fsPath;
  const { version } = extension.packageJSON as { version: string };
  const environment = { ELECTRON_RUN_AS_NODE: '1' };
  return new vscode.McpStdioServerDefinition('GPU Memory Trace', process.execPath, [cli, 'mcp'], environment, version);
}

/** The debugger's sessions for children of a program attach, and have its environment already. */
const isTraced = ({ gpuMemoryTrace, type, request }: vscode.DebugConfiguration): boolean =>
  gpuMemoryTrace === true && (type === 'debugpy' || type === 'python') && request === 'launch';
