import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { isExecutable, pythonOnPath } from '../../capture/processes/machine';
import { Refused } from '../session/refused';
import { inheritedEnvironment } from '../session/terminal';

/** The part of the Python extension's API that is used. */
interface PythonApi {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

/** There is no Python; another one may be chosen. */
export class NoInterpreter extends Refused {}

/** Lets the user choose one: by the Python extension where it is installed, else in the settings. */
export async function chooseInterpreter(): Promise<void> {
  if (vscode.extensions.getExtension('ms-python.python') !== undefined)
    await vscode.commands.executeCommand('python.setInterpreter');
  else await vscode.commands.executeCommand('workbench.action.openSettings', 'gpuMemoryTrace.pythonPath');
}

/** The interpreter for a file: the Python extension's choice, else the setting, a virtual environment beside it, python3 on PATH; null: none. */
export async function findInterpreter(resource: vscode.Uri | undefined): Promise<string | null> {
  const chosen = await chosenByExtension(resource);
  if (chosen !== null) return chosen;
  const setting = vscode.workspace.getConfiguration('gpuMemoryTrace', resource).get<string>('pythonPath', '').trim();
  if (setting !== '') return setting;
  return virtualEnvironment(resource) ?? pythonOnPath(inheritedEnvironment());
}

/** That of the nearest folder above a file, up to the workspace's; null: there is none, or the workspace is not trusted, so nothing of it may run. */
function virtualEnvironment(resource: vscode.Uri | undefined): string | null {
  const { workspaceFolders, isTrusted } = vscode.workspace;
  const top = (resource && vscode.workspace.getWorkspaceFolder(resource)?.uri) ?? workspaceFolders?.[0]?.uri;
  if (top === undefined || !isTrusted) return null;
  const begin = resource?.fsPath.startsWith(`${top.fsPath}/`) ? resource.fsPath : top.fsPath;
  for (let folder = begin; ; folder = dirname(folder)) {
    const found = ['.venv', 'venv'].map(name => join(folder, name, 'bin', 'python')).find(isExecutable);
    if (found !== undefined || folder === top.fsPath) return found ?? null;
  }
}

async function chosenByExtension(resource: vscode.Uri | undefined): Promise<string | null> {
  const extension = vscode.extensions.getExtension<PythonApi>('ms-python.python');
  if (extension === undefined) return null;
  try {
    const { environments } = await extension.activate();
    if (environments === undefined) return null;
    const resolved = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(resource));
    return resolved?.executable.uri?.fsPath ?? null;
  } catch {
    return null;
  }
}
