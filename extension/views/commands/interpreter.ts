import * as vscode from 'vscode';
import { pythonOnPath } from '../../capture/processes/machine';
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

/** The interpreter for a file: the Python extension's choice, else the setting, else python3 on PATH; null: none. */
export async function findInterpreter(resource: vscode.Uri | undefined): Promise<string | null> {
  const chosen = await chosenByExtension(resource);
  if (chosen !== null) return chosen;
  const setting = vscode.workspace.getConfiguration('gpuMemoryTrace', resource).get<string>('pythonPath', '').trim();
  if (setting !== '') return setting;
  return pythonOnPath(inheritedEnvironment());
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
