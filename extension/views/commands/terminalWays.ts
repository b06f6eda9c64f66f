// `gpu-memtrace` in VS Code's terminals and tasks, and links to what it prints.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { joinWords } from '../../capture/launch/shellWords';
import { WINDOW_FOLDER } from '../../capture/traces/announce';
import { makeFolder, readText, watchFile, writeWhole } from '../../files/files';

const TASK = 'gpu-memtrace';
const EVERYWHERE = { applyAtProcessCreation: true, applyAtShellIntegration: true };

type Interpreter = (folder: vscode.Uri | undefined) => Promise<string>;

interface TraceLink extends vscode.TerminalLink {
  file: string;
}

/** Puts the command on PATH, run by the editor's own Node.js; the folder that has it. */
function putOnPath(context: vscode.ExtensionContext): string {
  const folder = join(context.globalStorageUri.fsPath, 'bin');
  const command = join(folder, TASK);
  const asNode = process.versions.electron === undefined ? '' : 'ELECTRON_RUN_AS_NODE=1 ';
  const program = joinWords([process.execPath, join(context.extensionPath, 'dist', 'cli.js')]);
  const script = `#!/bin/sh\n${asNode}exec ${program} "$@"\n`;
  if (readText(command) !== script) {
    makeFolder(folder);
    writeWhole(command, [script], { mode: 0o755 });
  }
  const variables = context.environmentVariableCollection;
  variables.description = vscode.l10n.t('Adds the command gpu-memtrace to PATH and shows its traces in this window');
  variables.prepend('PATH', `${folder}:`, EVERYWHERE);
  return command;
}

/** Calls `announced` with the folder of this window's terminals whenever a trace that begins or ends there is announced in it. */
function watchTerminals(context: vscode.ExtensionContext, announced: (folder: string) => void): vscode.Disposable {
  const own = context.storageUri ?? vscode.Uri.joinPath(context.globalStorageUri, vscode.env.sessionId);
  const folder = join(own.fsPath, 'terminals');
  makeFolder(folder);
  context.environmentVariableCollection.replace(WINDOW_FOLDER, folder, EVERYWHERE);
  const check = (): void => void (readdirSync(folder).length > 0 && announced(folder));
  check();
  return new vscode.Disposable(watchFile(folder, check, () => undefined));
}

/** Traces and pages that are there, by their whole paths, which may have spaces. */
function linksIn(line: string): TraceLink[] {
  return [...line.matchAll(/(?:\.gputrace|\/oom-[\d-]+\.md)(?!\w)/g)].flatMap(({ 0: { length }, index }) => {
    const end = index + length;
    const begins = [...line.slice(0, end).matchAll(/\//g)].map(slash => slash.index);
    const startIndex = begins.find(begin => existsSync(line.slice(begin, end)));
    if (startIndex === undefined) return [];
    return [{ startIndex, length: end - startIndex, file: line.slice(startIndex, end) }];
  });
}

const links: vscode.TerminalLinkProvider<TraceLink> = {
  provideTerminalLinks: ({ line }) => linksIn(line),
  handleTerminalLink: async ({ file }) => {
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file));
  },
};

/** A task that runs a script or a module under the command. */
async function traceTask(
  [command, interpreter]: readonly [string, Interpreter],
  definition: vscode.TaskDefinition,
  scope: vscode.Task['scope'],
): Promise<vscode.Task> {
  const { script, module, args } = definition as { script?: string; module?: string; args?: string[] };
  const folder = scope === undefined || typeof scope === 'number' ? undefined : scope.uri;
  const target = module === undefined ? [script ?? '${file}'] : ['-m', module];
  const words = ['run', '--', await interpreter(folder), ...target, ...(args ?? [])];
  const name = module ?? script ?? vscode.l10n.t('the active file');
  return new vscode.Task(
    definition,
    scope ?? vscode.TaskScope.Workspace,
    name,
    TASK,
    new vscode.ProcessExecution(command, words),
    [],
  );
}

/** Registers all of it. */
export function terminalWays(
  context: vscode.ExtensionContext,
  interpreter: Interpreter,
  announced: (folder: string) => void,
): vscode.Disposable {
  const how = [putOnPath(context), interpreter] as const;
  return vscode.Disposable.from(
    watchTerminals(context, announced),
    vscode.window.registerTerminalLinkProvider(links),
    vscode.tasks.registerTaskProvider(TASK, {
      provideTasks: async () => [await traceTask(how, { type: TASK }, vscode.TaskScope.Workspace)],
      resolveTask: task => traceTask(how, task.definition, task.scope),
    }),
  );
}
