// Python launch configurations (launch.json) as commands: substitution of variables, environment files.
import { basename, dirname, extname, isAbsolute, join, relative, resolve } from 'node:path';
import { splitWords } from './shellWords';
import { attempt } from '../../base/attempt';
import { isFields } from '../../base/fields';

/** What is to be run. */
export interface LaunchPlan {
  /** For people: the script's or the configuration's name. */
  title: string;
  command: string[];
  cwd: string;
  environment: Record<string, string>;
  /** Makes it anew, with the interpreter that is chosen by then, and with other arguments where these are changed; absent: nothing of it changes. */
  again?: (changeArguments?: boolean) => Promise<LaunchPlan | undefined>;
  /** A script that takes arguments: `again` can change them. */
  script?: string;
}

/** What the variables of a configuration stand for. */
export interface VariableContext {
  workspaceFolder: string;
  /** Folders by name, for `${workspaceFolder:name}`. */
  workspaceFolders: Record<string, string>;
  file: string | null;
  lineNumber: number;
  selectedText: string;
  userHome: string;
  environment: Record<string, string | undefined>;
  /** The value of `${config:name}`. */
  setting(name: string): string | undefined;
  /** Values of `${command:name}` that the user entered before. */
  commands: Record<string, string>;
  interpreter: string;
}

export type Configuration = Record<string, unknown>;
/** One sentence on what cannot be used. */
export class UnusableConfiguration extends Error {}

/** Whether a launch.json entry starts Python on this machine. */
export function isPythonLaunch(value: unknown): value is Configuration {
  const entry = (typeof value === 'object' && value !== null ? value : {}) as Configuration;
  return (entry.type === 'python' || entry.type === 'debugpy') && entry.request === 'launch';
}

/** Names in `${command:…}` of a configuration. */
export function commandVariables(configuration: Configuration): string[] {
  return [...JSON.stringify(configuration).matchAll(/\$\{command:([^}]+)\}/g)].map(match => match[1] ?? '');
}

/** Makes the command of a Python launch configuration. Throws UnusableConfiguration. */
export function planOf(
  configuration: Configuration,
  context: VariableContext,
  readFile: (path: string) => string,
): LaunchPlan {
  const linux = isFields(configuration.linux) ? configuration.linux : {};
  const settings = { ...configuration, ...linux };
  const title = typeof settings.name === 'string' ? settings.name : 'Python';
  const text = (name: string): string | undefined => {
    const value = settings[name];
    return typeof value === 'string' && value !== '' ? substitute(value, context) : undefined;
  };
  const cwd = resolve(context.workspaceFolder, text('cwd') ?? context.workspaceFolder);
  const python = wordsOf(settings.python ?? settings.pythonPath, 'python', context);
  const interpreter = python.length > 0 ? python : [context.interpreter];
  const command = [
    ...interpreter,
    ...wordsOf(settings.pythonArgs, 'pythonArgs', context),
    ...targetOf(title, text, cwd),
    ...wordsOf(settings.args, 'args', context),
  ];
  const environment = { ...environmentFile(text('envFile'), readFile), ...environmentOf(settings.env, context) };
  return { title, command, cwd, environment };
}

function targetOf(title: string, text: (name: string) => string | undefined, cwd: string): string[] {
  const program = text('program');
  if (program !== undefined) return [isAbsolute(program) ? program : join(cwd, program)];
  const module = text('module');
  if (module !== undefined) return ['-m', module];
  const code = text('code');
  if (code !== undefined) return ['-c', code];
  throw new UnusableConfiguration(`The launch configuration "${title}" has neither a program nor a module.`);
}

function wordsOf(value: unknown, name: string, context: VariableContext): string[] {
  if (value === undefined || value === null || value === '') return [];
  if (Array.isArray(value)) return value.map(word => substitute(String(word), context));
  if (typeof value !== 'string')
    throw new UnusableConfiguration(`"${name}" is neither a string nor a list of strings.`);
  const line = substitute(value, context);
  // A path with spaces in "python" is one word; "args" as a text is a line for a shell.
  const words = name === 'python' ? [line] : splitWords(line);
  if (words === null) throw new UnusableConfiguration(`A quote is not closed in "${name}": ${line}`);
  return words;
}

function environmentOf(value: unknown, context: VariableContext): Record<string, string> {
  if (!isFields(value)) return {};
  const entries = Object.entries(value).filter(([, text]) => text !== null && text !== undefined);
  return Object.fromEntries(entries.map(([name, text]) => [name, substitute(String(text), context)]));
}

function environmentFile(path: string | undefined, readFile: (path: string) => string): Record<string, string> {
  if (path === undefined) return {};
  // As the Python extension does: a missing environment file is no error.
  return parseEnvironmentFile(attempt(() => readFile(path), ''));
}

/** `NAME=value` lines; `#` comments, `export`, quotes. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line);
    if (match === null) continue;
    const [, name = '', raw = ''] = match;
    const quoted = /^(["'])(.*)\1$/.exec(raw);
    if (quoted !== null)
      variables[name] = quoted[1] === '"' ? (quoted[2] ?? '').replaceAll('\\n', '\n') : (quoted[2] ?? '');
    else variables[name] = raw.replace(/\s+#.*$/, '');
  }
  return variables;
}

/** Replaces `${…}`. Throws UnusableConfiguration for a variable that has no value here. */
export function substitute(text: string, context: VariableContext): string {
  return text.replace(/\$\{([^}]*)\}/g, (_whole, name: string) => {
    const value = variable(name, context);
    if (value === undefined) throw new UnusableConfiguration(`The variable \${${name}} has no value here.`);
    return value;
  });
}

function variable(name: string, context: VariableContext): string | undefined {
  const colon = name.indexOf(':');
  if (colon > 0) return prefixed(name.slice(0, colon), name.slice(colon + 1), context);
  const { file } = context;
  const ofFile = OF_FILE.get(name);
  if (ofFile !== undefined) return file === null ? undefined : ofFile(file, context.workspaceFolder);
  return OF_WINDOW.get(name)?.(context);
}

const OF_FILE = tableOf<(path: string, folder: string) => string>({
  file: path => path,
  fileBasename: path => basename(path),
  fileBasenameNoExtension: path => basename(path, extname(path)),
  fileDirname: path => dirname(path),
  fileDirnameBasename: path => basename(dirname(path)),
  fileExtname: path => extname(path),
  relativeFile: (path, folder) => relative(folder, path),
  relativeFileDirname: (path, folder) => relative(folder, dirname(path)) || '.',
});

const OF_WINDOW = tableOf<(context: VariableContext) => string>({
  workspaceFolder: context => context.workspaceFolder,
  workspaceRoot: context => context.workspaceFolder,
  fileWorkspaceFolder: context => context.workspaceFolder,
  cwd: context => context.workspaceFolder,
  workspaceFolderBasename: context => basename(context.workspaceFolder),
  lineNumber: context => String(context.lineNumber),
  selectedText: context => context.selectedText,
  userHome: context => context.userHome,
  pathSeparator: () => '/',
  '/': () => '/',
});

function tableOf<T>(entries: Record<string, T>): ReadonlyMap<string, T> {
  return new Map(Object.entries(entries));
}

function prefixed(kind: string, name: string, context: VariableContext): string | undefined {
  switch (kind) {
    case 'env':
      return context.environment[name] ?? '';
    case 'workspaceFolder':
      return context.workspaceFolders[name];
    case 'config':
      return context.setting(name);
    case 'command':
      return name === 'python.interpreterPath' ? context.interpreter : context.commands[name];
    default:
      return undefined;
  }
}
