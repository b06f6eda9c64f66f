import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { attempt } from '../../base/attempt';
import { parseFields } from '../../base/fields';
import { copyFolder, makeFolder, readText, removeFolder, writeWhole } from '../../files/files';
import { isolatedPython } from '../processes/machine';
import type { Environment } from '../processes/machine';
import { reasonOf } from '../traces/traceDirectory';

// Jupyter kernels that start under the tracer. Such a kernel is a folder with a kernel.json, which names a program.

export interface KernelSpec {
  name: string;
  folder: string;
  displayName: string;
  /** Ours: it starts under the tracer. */
  traces: boolean;
  /** All fields of its kernel.json. */
  fields: Record<string, unknown>;
}
export interface KernelChoice {
  /** Name of an installed kernel, or a Python that has ipykernel; neither: the kernel `python3`, else the `python3` in PATH. */
  kernel: string | null;
  python: string | null;
  /** Where it is written: the user's folder, below a prefix, or (null) beside the chosen one. */
  place: 'user' | { prefix: string } | null;
  /** Of the new one; null: the chosen one's with `-gpu-memtrace`. */
  name: string | null;
}

const MARK = 'gpu_memtrace';
/** Time limit for a program to prove that it is a Python. */
const PATIENCE_MS = 60_000;
const BELOW_PREFIX = ['share', 'jupyter', 'kernels'];
const LEAVES = '(GPU Memory Trace)';

/** Folders in which Jupyter looks for kernels, the first wins. Source: "Common Directories and File Locations", docs.jupyter.org. */
function kernelFolders(environment: Environment): string[] {
  const named = (environment.JUPYTER_PATH ?? '').split(delimiter).filter(Boolean);
  const pythons = (environment.PATH ?? '').split(delimiter).filter(folder => existsSync(join(folder, 'python3')));
  const prefixes = [...pythons.map(dirname), '/usr/local', '/usr'];
  const below = prefixes.map(prefix => join(prefix, ...BELOW_PREFIX));
  return [...new Set([...named.map(folder => join(folder, 'kernels')), userFolder(environment), ...below])];
}

function userFolder({ JUPYTER_DATA_DIR, XDG_DATA_HOME, HOME }: Environment): string {
  const data = JUPYTER_DATA_DIR || join(XDG_DATA_HOME || join(HOME || homedir(), '.local', 'share'), 'jupyter');
  return join(data, 'kernels');
}

/** The Python kernels that Jupyter would find, ours too. */
export function installedKernels(environment: Environment, parents = kernelFolders(environment)): KernelSpec[] {
  const found = new Map<string, KernelSpec>();
  for (const parent of parents) {
    for (const name of attempt(() => readdirSync(parent), [])) {
      const folder = join(parent, name);
      const fields = parseFields(readText(join(folder, 'kernel.json'))) ?? {};
      const { argv, metadata, display_name: shown } = fields;
      if (found.has(name) || fields.language !== 'python' || !Array.isArray(argv)) continue;
      const traces = (metadata as Record<string, unknown> | undefined)?.[MARK] === true;
      found.set(name, { name, folder, displayName: typeof shown === 'string' ? shown : name, traces, fields });
    }
  }
  return [...found.values()];
}

/** Writes the kernel that starts the chosen one by `launcher`, the words of the command line. One sentence where that cannot be. */
export function installKernel(
  launcher: readonly string[],
  choice: KernelChoice,
  environment: Environment,
): KernelSpec | { error: string } {
  const chosen = chosenKernel(choice, environment);
  if ('error' in chosen) return chosen;
  const name = choice.name ?? `${chosen.name}-gpu-memtrace`;
  const beside = chosen.folder === '' ? userFolder(environment) : dirname(chosen.folder);
  const folder = join(choice.place === null ? beside : placeOf(choice.place, environment), name);
  const others = [chosen, ...installedKernels(environment)].filter(one => one.name === name && !one.traces);
  const taken = existsSync(folder) && installedAt(folder)?.[MARK] !== true ? folder : others[0]?.folder;
  if (taken !== undefined)
    return { error: `"${name}" is another kernel, in ${taken || 'ipykernel itself'}: choose another --name.` };
  const displayName = `${chosen.displayName.replace(/ \(ipykernel\)$/, '')} ${LEAVES}`;
  const fields = {
    ...chosen.fields,
    argv: [...launcher, 'run', '--format', 'none', '--', ...(chosen.fields.argv as string[])],
    display_name: displayName,
    metadata: { ...(chosen.fields.metadata as object | undefined), [MARK]: true },
  };
  try {
    makeFolder(folder, 0o777); // for whoever may use the other one
    if (chosen.folder !== '') copyFolder(chosen.folder, folder); // its pictures
    writeWhole(join(folder, 'kernel.json'), [`${JSON.stringify(fields, null, 1)}\n`]);
  } catch (error) {
    return { error: `${folder} cannot be written: ${reasonOf(error)}; --user writes to your own folder.` };
  }
  return { name, folder, displayName, traces: true, fields };
}

/** Removes one that was installed so, the first that Jupyter finds or that of a place; the folder that is gone, or one sentence. */
export function uninstallKernel(
  name: string,
  place: KernelChoice['place'],
  environment: Environment,
): KernelSpec | { error: string } {
  const parent = place === null ? null : placeOf(place, environment);
  const found = installedKernels(environment, parent === null ? undefined : [parent]).find(one => one.name === name);
  if (found === undefined) return { error: `There is no Jupyter kernel "${name}"${parent ? ` in ${parent}` : ''}.` };
  if (!found.traces) return { error: `The kernel "${name}" was not installed by gpu-memtrace, so it is not removed.` };
  try {
    removeFolder(found.folder);
    return found;
  } catch (error) {
    return { error: `${found.folder} cannot be removed: ${reasonOf(error)}.` };
  }
}

const placeOf = (place: NonNullable<KernelChoice['place']>, environment: Environment): string =>
  place === 'user' ? userFolder(environment) : join(resolve(place.prefix), ...BELOW_PREFIX);

function installedAt(folder: string): Record<string, unknown> | null {
  const fields = parseFields(readText(join(folder, 'kernel.json')));
  return (fields?.metadata as Record<string, unknown> | undefined) ?? null;
}

function chosenKernel({ kernel, python }: KernelChoice, environment: Environment): KernelSpec | { error: string } {
  const others = installedKernels(environment).filter(({ traces }) => !traces);
  const found = python === null ? others.find(({ name }) => name === (kernel ?? 'python3')) : undefined;
  if (found !== undefined) return found;
  const known = others.map(({ name }) => name).join(', ') || 'none';
  if (kernel !== null)
    return {
      error: `There is no Python kernel "${kernel}" for Jupyter; found: ${known}. Use --python PATH to choose a Python.`,
    };
  const program = python ?? 'python3';
  const code = 'import sys; print("Python", sys.executable, sep="\\n"); import ipykernel';
  const { stdout, status } = spawnSync(program, isolatedPython(code), { encoding: 'utf8', timeout: PATIENCE_MS });
  const [word, path = ''] = (stdout || '').split('\n');
  if (word !== 'Python') return { error: `${program} is not a working Python interpreter.` };
  if (status !== 0)
    return { error: `${program} has no ipykernel. Install it with "${program} -m pip install ipykernel".` };
  const argv = [path, '-m', 'ipykernel_launcher', '-f', '{connection_file}'];
  const displayName = python === null ? 'Python 3' : `Python 3 in ${basename(dirname(dirname(path)))}`;
  return { name: 'python3', folder: '', displayName, traces: false, fields: { argv, language: 'python' } };
}
