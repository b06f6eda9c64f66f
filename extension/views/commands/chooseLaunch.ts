// Questions to the user about what to trace. Undefined answers: the user went away.
import { readBytes } from '../../files/files';
import { homedir } from 'node:os';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import {
  commandVariables,
  isPythonLaunch,
  planOf,
  UnusableConfiguration,
  type Configuration,
  type LaunchPlan,
} from '../../capture/launch/launchConfiguration';
import { splitWords } from '../../capture/launch/shellWords';
import { optionsOf, takesArguments } from '../../capture/launch/takesArguments';
import { findInterpreter, NoInterpreter } from './interpreter';
import { Refused } from '../session/refused';
import { inheritedEnvironment } from '../session/terminal';

/** Before each try to save a file. */
const SAVE_WAITS_MS = [0, 100, 1_000];

let lastActive: vscode.TextDocument | undefined;

/** Notes which Python file is active, for when a tab without text is in front. */
export function followActiveFile(): vscode.Disposable {
  const note = (editor: vscode.TextEditor | undefined): void => {
    if (editor !== undefined && isPython(editor.document)) lastActive = editor.document;
  };
  note(vscode.window.activeTextEditor);
  return vscode.window.onDidChangeActiveTextEditor(note);
}

/** One whose tab was closed is not meant any more. */
const hasTab = ({ uri }: vscode.TextDocument): boolean =>
  vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .some(({ input }) => input instanceof vscode.TabInputText && String(input.uri) === String(uri));

const isPython = ({ languageId, uri }: vscode.TextDocument): boolean =>
  languageId === 'python' || uri.fsPath.endsWith('.py');

/** The Python file that is active, or was last, saved; where nothing is open, the one that the user chooses. Rejects with a sentence. */
export async function activePythonFile(): Promise<vscode.Uri | undefined> {
  const last = lastActive !== undefined && hasTab(lastActive) ? lastActive : undefined;
  const document = vscode.window.activeTextEditor?.document ?? last ?? (await chooseDocument());
  if (document === undefined) return undefined;
  const file = document.uri.fsPath;
  if (document.isUntitled) throw new Refused(vscode.l10n.t('Save {0} first, then trace it.', basename(file)));
  if (!isPython(document)) throw new Refused(vscode.l10n.t('{0} is not a Python file.', basename(file)));
  if (document.uri.scheme !== 'file') throw new Refused(vscode.l10n.t('{0} is not on this machine.', basename(file)));
  if (!(await save(document))) {
    throw new Refused(vscode.l10n.t('{0} has changes that could not be saved.', basename(file)));
  }
  return document.uri;
}

/** When there is a prompt for a script's arguments; `ifAny`: if it takes any, unless the setting is never. */
export type Asking = 'usual' | 'ifAny' | 'always';

/** A Python file that the user chooses, opened in an editor. */
async function chooseDocument(): Promise<vscode.TextDocument | undefined> {
  const title = vscode.l10n.t('Trace GPU memory: choose a Python script');
  const [file] = (await vscode.window.showOpenDialog({ title, filters: { Python: ['py'] } })) ?? [];
  return file && (await vscode.window.showTextDocument(file)).document;
}

/** The active Python file as a plan. Rejects with a sentence. */
export async function planOfActiveFile(
  memory: vscode.Memento,
  asking: (file: string) => Asking = () => 'usual',
): Promise<LaunchPlan | undefined> {
  const uri = await activePythonFile();
  return uri && planOfFile(uri, memory, asking(uri.fsPath));
}

/** A Python file as a plan. */
export async function planOfFile(
  uri: vscode.Uri,
  memory: vscode.Memento,
  asking: Asking = 'usual',
): Promise<LaunchPlan | undefined> {
  const file = uri.fsPath;
  const interpreter = await interpreterFor(uri);
  const takes = Boolean(memory.get<string>(argumentsKey(file))) || takesArguments(file);
  const words = await promptArguments(file, memory, uri, asking, takes);
  if (words === undefined) return undefined;
  return {
    title: basename(file),
    command: [interpreter, file, ...words],
    cwd: vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? dirname(file),
    environment: {},
    again: changeArguments => planOfFile(uri, memory, changeArguments ? 'always' : 'usual'),
    ...((takes || words.length > 0) && { script: file }),
  };
}

const argumentsKey = (file: string): string => `arguments:${file}`;

/** A Python file that the user chooses as a plan. */
export async function planOfChosenFile(memory: vscode.Memento): Promise<LaunchPlan | undefined> {
  return (await chooseDocument()) && planOfActiveFile(memory);
}

/** Whether it is saved. Where the editor saves by itself at the same moment, saving fails and does so a while later no more. */
async function save(document: vscode.TextDocument): Promise<boolean> {
  for (const waitMs of SAVE_WAITS_MS) {
    await sleep(waitMs);
    if (!document.isDirty || (await document.save())) return true;
  }
  return false;
}

/** Rejects with a sentence where there is none. */
export async function interpreterFor(resource: vscode.Uri | undefined): Promise<string> {
  const interpreter = await findInterpreter(resource);
  if (interpreter !== null) return interpreter;
  throw new NoInterpreter(vscode.l10n.t('No Python was found. Choose one in the setting gpuMemoryTrace.pythonPath.'));
}

/** Of a file that takes any, or had some: prompted for once, and remembered; by the setting always or never. */
async function promptArguments(
  file: string,
  memory: vscode.Memento,
  resource: vscode.Uri,
  asking: Asking,
  takes: boolean,
): Promise<string[] | undefined> {
  const setting = vscode.workspace.getConfiguration('gpuMemoryTrace', resource);
  const when = setting.get<string>('askArguments', 'once');
  const key = argumentsKey(file);
  const remembered = memory.get<string>(key);
  const again = when === 'always' || asking === 'ifAny' || remembered === undefined;
  const asks = asking === 'always' || (takes && when !== 'never' && again);
  if (!asks) return splitWords(remembered ?? '') ?? [];
  const line = await vscode.window.showInputBox({
    title: vscode.l10n.t('Trace GPU memory: arguments of {0}', basename(file)),
    prompt: vscode.l10n.t('The arguments are remembered for this file.'),
    placeHolder: optionsOf(file).join(' ') || '--epochs 3 --batch-size 64',
    value: remembered ?? '',
    ignoreFocusOut: true,
    validateInput: text => (splitWords(text) === null ? vscode.l10n.t('Add the missing closing quote.') : undefined),
  });
  if (line === undefined) return undefined;
  await memory.update(key, line);
  return splitWords(line) ?? [];
}

/** A Python entry of launch.json, chosen by the user. */
export async function planOfConfiguration(): Promise<LaunchPlan | undefined> {
  const entries = launchEntries();
  if (entries.length === 0) {
    throw new Refused(vscode.l10n.t('launch.json has no Python configuration with "request": "launch".'));
  }
  const picked = await vscode.window.showQuickPick(
    entries.map(entry => ({
      label: String(entry.configuration.name ?? 'Python'),
      description: String(entry.configuration.program ?? entry.configuration.module ?? ''),
      entry,
    })),
    { title: vscode.l10n.t('Trace GPU memory with a launch configuration') },
  );
  if (picked === undefined) return undefined;
  const { configuration, folder: owner } = picked.entry;
  return makePlan(configuration, owner);
}

interface LaunchEntry {
  configuration: Configuration;
  folder: vscode.WorkspaceFolder;
}

function launchEntries(): LaunchEntry[] {
  const entries: LaunchEntry[] = [];
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    const found = vscode.workspace.getConfiguration('launch', folder.uri).get<unknown[]>('configurations', []);
    for (const configuration of found.filter(isPythonLaunch)) entries.push({ configuration, folder });
  }
  return entries;
}

/** What a configuration would run. Rejects with a sentence. */
export async function makePlan(configuration: Configuration, given?: vscode.WorkspaceFolder): Promise<LaunchPlan> {
  const folder = given ?? activeFolder();
  if (folder === undefined) throw new Refused(vscode.l10n.t('Open a folder first. Its launch.json is used.'));
  const editor = vscode.window.activeTextEditor;
  const commands: Record<string, string> = {};
  for (const name of commandVariables(configuration)) {
    if (name === 'python.interpreterPath') continue;
    const value = await vscode.commands.executeCommand<unknown>(name, configuration);
    if (typeof value === 'string') commands[name] = value;
  }
  const folders = vscode.workspace.workspaceFolders ?? [];
  const context = {
    workspaceFolder: folder.uri.fsPath,
    workspaceFolders: Object.fromEntries(folders.map(entry => [entry.name, entry.uri.fsPath])),
    file: editor?.document.uri.scheme === 'file' ? editor.document.uri.fsPath : null,
    lineNumber: (editor?.selection.active.line ?? 0) + 1,
    selectedText: editor === undefined ? '' : editor.document.getText(editor.selection),
    userHome: homedir(),
    environment: inheritedEnvironment(),
    setting: (name: string) => settingText(name, folder.uri),
    commands,
    interpreter: await interpreterFor(folder.uri),
  };
  try {
    const plan = planOf(configuration, context, path => readBytes(path).toString('utf8'));
    return { ...plan, again: () => makePlan(configuration, folder) };
  } catch (error) {
    if (error instanceof UnusableConfiguration) throw new Refused(error.message);
    throw error;
  }
}

function settingText(name: string, resource: vscode.Uri): string | undefined {
  const value = vscode.workspace.getConfiguration(undefined, resource).get<unknown>(name);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

function activeFolder(): vscode.WorkspaceFolder | undefined {
  const active = vscode.window.activeTextEditor?.document.uri;
  const owner = active === undefined ? undefined : vscode.workspace.getWorkspaceFolder(active);
  return owner ?? vscode.workspace.workspaceFolders?.[0];
}

/** One test of pytest: the Python extension gives it, in Test Explorer, pytest's own name. `given`: what the menu gives. Rejects with a sentence. */
export async function planOfTest(given: unknown): Promise<LaunchPlan> {
  const { id, label, uri } = (given ?? {}) as Partial<vscode.TestItem>;
  if (id === undefined || uri === undefined || !(id === uri.fsPath || id.startsWith(`${uri.fsPath}::`))) {
    throw new Refused(
      vscode.l10n.t('Choose a single pytest test in the Test Explorer. Other tests cannot be traced individually.'),
    );
  }
  const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? dirname(uri.fsPath);
  const cwd = vscode.workspace.getConfiguration('python.testing', uri).get<string>('cwd') ?? '';
  return {
    title: label ?? id,
    command: [await interpreterFor(uri), '-m', 'pytest', id],
    cwd: cwd === '' ? folder : cwd.replace('${workspaceFolder}', folder),
    environment: {},
    again: () => planOfTest(given),
  };
}
