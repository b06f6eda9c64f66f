// What this machine can do: driver, GPUs, CUPTI, interpreters. Reads files where they are enough; the traced program's
// interpreter is never started by `run`.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { readStart, readText } from '../../files/files';
import { attempt } from '../../base/attempt';

/** Debian's name of the processor, and ldconfig's. */
const [MULTIARCH, PROCESSOR] = process.arch === 'arm64' ? ['aarch64', 'AArch64'] : ['x86_64', 'x86-64'];
const LIBRARY_FOLDERS = [
  `/usr/lib/${MULTIARCH}-linux-gnu`,
  '/usr/lib64',
  '/usr/lib',
  `/lib/${MULTIARCH}-linux-gnu`,
  '/usr/local/nvidia/lib64',
  '/usr/lib/wsl/lib',
  '/run/opengl-driver/lib',
];
const CHILD_TIMEOUT_MS = 5_000;

/** Variables of a program, by name. */
export type Environment = Record<string, string | undefined>;

/** Path of the CUDA driver's library by the loader's own order, null where there is none. */
export async function findLibcuda(environment: Environment): Promise<string | null> {
  const named = (environment.LD_LIBRARY_PATH ?? '').split(':').filter(folder => folder !== '');
  const direct = [...named, ...LIBRARY_FOLDERS].map(folder => join(folder, 'libcuda.so.1')).find(isFile);
  if (direct !== undefined) return direct;
  for (const program of ['/sbin/ldconfig', '/usr/sbin/ldconfig']) {
    if (!existsSync(program)) continue;
    const listing = await output(program, ['-p']);
    const path = new RegExp(`libcuda\\.so\\.1 \\([^)]*${PROCESSOR}[^)]*\\) => (\\S+)`).exec(listing ?? '')?.[1];
    if (path !== undefined && isFile(path)) return path;
  }
  return null;
}

/** Names of the machine's NVIDIA GPUs: from the kernel driver's files, else from nvidia-smi. */
export async function findGpus(environment: Environment): Promise<string[]> {
  const folder = '/proc/driver/nvidia/gpus';
  const names = list(folder).map(entry => {
    const text = readText(join(folder, entry, 'information'));
    return /^Model:\s*(.+)$/m.exec(text)?.[1]?.trim() ?? 'NVIDIA GPU';
  });
  if (names.length === 0) {
    const program = onPath('nvidia-smi', environment) ?? '/usr/lib/wsl/lib/nvidia-smi';
    const listing = isFile(program) ? await output(program, ['--query-gpu=name', '--format=csv,noheader']) : null;
    names.push(...(listing ?? '').split('\n').filter(line => line.trim() !== ''));
  }
  return names.map(name => name.trim());
}

/** The driver that a program finds, and whether it has a GPU: a driver that the program's own environment names may bring one. */
export async function findDriver(environment: Environment): Promise<{ libcuda: string | null; gpu: boolean }> {
  const [libcuda, gpus] = await Promise.all([findLibcuda(environment), findGpus(environment)]);
  const folders = (environment.LD_LIBRARY_PATH ?? '').split(':').filter(folder => folder !== '');
  return { libcuda, gpu: gpus.length > 0 || folders.some(folder => libcuda?.startsWith(folder)) };
}

/** '580.159', or null without a kernel driver. */
export function driverVersion(): string | null {
  const text = readText('/proc/driver/nvidia/version');
  return /Kernel Module\s+(?:for \S+\s+)?([\d.]+)/.exec(text)?.[1] ?? null;
}

/** The libcupti that a command is given for the case that it has none of its own. */
export function cuptiFor(command: readonly string[], environment: Environment, cwd: string): string | null {
  const program = interpreterOf(command[0] ?? '', environment, cwd);
  return environment.GPU_MEMTRACE_CUPTI ?? cuptiCandidates(environment, program)[0] ?? null;
}

/** libcupti files that the program may use, the one its framework ships first. */
export function cuptiCandidates(environment: Environment, program: string | null): string[] {
  const found: string[] = [];
  for (const folder of cuptiFolders(environment, program)) {
    const versions = list(folder).filter(name => /^libcupti\.so\.\d+$/.test(name));
    versions.sort((a, b) => Number(b.split('.').pop()) - Number(a.split('.').pop()));
    found.push(...versions.map(name => join(folder, name)));
  }
  return [...new Set(found)];
}

/** The folder of the libraries of PyTorch that the program's Python finds first, null where it finds none. */
export function torchFolder(environment: Environment, program: string | null): string | null {
  const folders = sitePackages(environment, program).map(packages => join(packages, 'torch', 'lib'));
  return folders.find(folder => isFile(join(folder, 'libtorch_cpu.so'))) ?? null;
}

/** The CUDA version that the PyTorch of a folder of its libraries is built with, `12.8`; null: none, or it is not there. */
export function torchCuda(folder: string): string | null {
  return /^cuda\b.*=\s*['"](\d+\.\d+)/m.exec(readText(join(dirname(folder), 'version.py')))?.[1] ?? null;
}

/** What to type for the libcupti of a CUDA version, null: of any. */
export function cuptiInstall(cuda: string | null): string {
  if (cuda === null) return 'pip install nvidia-cuda-cupti-cu12 (CUDA 12) or nvidia-cuda-cupti (CUDA 13)';
  const major = Number(cuda.split('.')[0]);
  return `pip install "nvidia-cuda-cupti${major < 13 ? `-cu${major}` : ''}==${cuda}.*"`;
}

function cuptiFolders(environment: Environment, program: string | null): string[] {
  const folders: string[] = [];
  for (const packages of sitePackages(environment, program)) {
    const nvidia = join(packages, 'nvidia');
    folders.push(...list(nvidia).map(name => join(nvidia, name, 'lib')));
  }
  if (environment.CONDA_PREFIX) folders.push(join(environment.CONDA_PREFIX, 'lib'));
  const toolkits = [environment.CUDA_HOME, environment.CUDA_PATH, '/usr/local/cuda'].flatMap(path => path || []);
  const versioned = list('/usr/local')
    .filter(name => /^cuda-\d/.test(name))
    .sort()
    .reverse();
  toolkits.push(...versioned.map(name => join('/usr/local', name)));
  for (const toolkit of toolkits) folders.push(join(toolkit, 'extras', 'CUPTI', 'lib64'), join(toolkit, 'lib64'));
  return folders;
}

/** Folders in which the program's Python finds packages, without starting it. */
function sitePackages(environment: Environment, program: string | null): string[] {
  const prefixes: string[] = [];
  const real = program && attempt(() => realpathSync(program), program);
  for (const path of [program, real]) if (path !== null) prefixes.push(dirname(dirname(path)));
  if (environment.VIRTUAL_ENV) prefixes.push(environment.VIRTUAL_ENV);
  prefixes.push(join(environment.HOME ?? homedir(), '.local'), '/usr/local', '/usr');
  const folders: string[] = [];
  for (const prefix of new Set(prefixes)) {
    for (const name of list(join(prefix, 'lib')).filter(entry => /^python3/.test(entry))) {
      folders.push(join(prefix, 'lib', name, 'site-packages'), join(prefix, 'lib', name, 'dist-packages'));
    }
  }
  return folders.filter(existsSync);
}

/** The Python that a command runs: itself, or the one its script's first line names. */
export function interpreterOf(command: string, environment: Environment, cwd: string): string | null {
  const file = command.includes('/') ? resolve(cwd, command) : onPath(command, environment);
  if (file === null || !isFile(file)) return null;
  if (/^(python|pypy)[\d.]*$/.test(basename(file))) return file;
  const first = /^#!\s*(\S+)(?:\s+(\S+))?/.exec(firstLine(file));
  const named = first?.[1] !== undefined && basename(first[1]) === 'env' ? first[2] : first?.[1];
  if (named === undefined || !basename(named).startsWith('python')) return null;
  return named.includes('/') ? named : onPath(named, environment);
}

/** Full path of a program on PATH, null when it is not there. */
export function onPath(name: string, environment: Environment): string | null {
  for (const folder of (environment.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter)) {
    const file = join(folder === '' ? '.' : folder, name);
    if (isExecutable(file)) return resolve(file);
  }
  return null;
}

/** The Python that a shell finds first; null: none. */
export function pythonOnPath(environment: Environment): string | null {
  return onPath('python3', environment) ?? onPath('python', environment);
}

/** '3.12.3' of an interpreter, null when it does not run. */
export async function pythonVersion(interpreter: string): Promise<string | null> {
  const text = await output(interpreter, ['-I', '-c', 'import sys; print("%d.%d.%d" % sys.version_info[:3])']);
  return /^\d+\.\d+\.\d+$/m.exec(text ?? '')?.[0] ?? null;
}

/**
 * Words of a Python that runs `code` and takes no module from the working directory or from PYTHONPATH, which may be another user's. What
 * `pip install --user` put there is found, outside of a virtual environment.
 */
export const isolatedPython = (code: string): string[] => [
  '-I',
  '-c',
  `import site, sys\nif sys.prefix == sys.base_prefix: site.addsitedir(site.getusersitepackages())\n${code}`,
];

/** '2.36', or null on another libc. */
export function glibcVersion(): string | null {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined;
  return report?.header?.glibcVersionRuntime ?? null;
}

/** Output of a short child process, null when it fails or takes too long. */
export function output(program: string, parameters: string[], env?: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise(done => {
    execFile(program, parameters, { timeout: CHILD_TIMEOUT_MS, env: env ?? process.env }, (error, stdout) =>
      done(error === null ? stdout : null),
    );
  });
}

export function isExecutable(file: string): boolean {
  return attempt(() => {
    accessSync(file, constants.X_OK);
    return isFile(file);
  }, false);
}
function isFile(path: string): boolean {
  return attempt(() => statSync(path).isFile(), false);
}
/** What is in a folder; nothing where it may not be read. */
export function list(folder: string): string[] {
  return attempt(() => readdirSync(folder), []);
}
function firstLine(file: string): string {
  const text = attempt(() => readStart(file, 256).toString('latin1'), '');
  return text.split('\n', 1)[0] ?? '';
}
