// A throwaway Python with one release of PyTorch.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot, run } from '../project/root.mjs';
import { pythons } from '../runner/pythons.mjs';
import { torchOf } from '../torch/standIn.mjs';
import { addMissingLibraries } from './stubs.mjs';

const CPU_INDEX = 'https://download.pytorch.org/whl/cpu';
/** Which Python a release is run with, where none is named: the first that it has a wheel for. */
const ORDER = ['3.12', '3.11', '3.10', '3.9', '3.13', '3.14'];
/** Gigabytes that no check here needs. */
const LEFT_OUT = '^(nvidia|cuda|triton|pytorch-triton)';
const REQUIRES = `
import importlib.metadata, re, sys
from pip._vendor.packaging.requirements import Requirement
for text in importlib.metadata.requires("torch") or []:
    one = Requirement(text)
    if not re.match(sys.argv[1], one.name) and (one.marker is None or one.marker.evaluate({"extra": ""})):
        print(str(one).split(";")[0].strip())
`;
const ABOUT =
  'import sys, sysconfig; print(*sys.version_info[:3], "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else "", sep=".")';

/** [{path, minor, version}] of the Pythons that are here; 3.13t is 3.13 without the GIL. GMT_PYTHONS may name more, as of native tests. */
export function knownPythons() {
  const paths = [...(process.env.GMT_PYTHONS ?? '').split(':').filter(Boolean), ...pythons()];
  const found = new Map();
  for (const path of paths) {
    try {
      const told = execFileSync(path, ['-c', ABOUT], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
      const [major, minor, micro, kind] = told.split('.');
      const name = `${major}.${minor}${kind}`;
      if (!found.has(name)) found.set(name, { path, minor: name, version: `${major}.${minor}.${micro}${kind}` });
    } catch {
      // not here, or none that runs
    }
  }
  return [...found.values()];
}

const reasonOf = output => output.match(/^ERROR: .*$/gm)?.at(-1) ?? output.trim().split('\n').at(-1) ?? '';

/** A virtual environment, with pip. Gives its Python; throws where there is none. */
async function makeVenv(path, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const made = join(folder, 'bin/python3');
  if ((await run(path, ['-m', 'venv', folder], { quiet: true })).code === 0) return made;
  // Debian's Python has no ensurepip: another one's pip installs its own into it.
  await run(path, ['-m', 'venv', '--clear', '--without-pip', folder], { quiet: true });
  const { code, output } = await run('python3', ['-m', 'pip', '--python', made, 'install', '-q', 'pip'], {
    quiet: true,
  });
  if (code !== 0) throw new Error(`${path} makes no virtual environment: ${reasonOf(output)}`);
  return made;
}

const pip = (python, words) =>
  run(
    python,
    [
      '-m',
      'pip',
      'install',
      '-q',
      '--no-input',
      '--disable-pip-version-check',
      '--no-cache-dir',
      '--no-compile',
      ...words,
    ],
    {
      quiet: true,
    },
  );

/** Installs what a release needs to be imported; '' or why not. */
async function installTorch(python, wanted) {
  const index = ['--extra-index-url', CPU_INDEX, '--retries', '0'];
  const torch = await pip(python, ['--no-deps', ...index, wanted]);
  if (torch.code !== 0) return reasonOf(torch.output);
  const requires = execFileSync(python, ['-c', REQUIRES, LEFT_OUT], { encoding: 'utf8' }).trim().split('\n');
  const old = /^torch==(1\.|2\.[0-2]\b)/.test(wanted);
  const more = await pip(python, ['--retries', '1', old ? 'numpy<2' : 'numpy', ...requires.filter(Boolean)]);
  return more.code === 0 ? '' : reasonOf(more.output);
}

/**
 * An environment with the newest release `version` (2.14, or 2.14.1), of the Python `minor`, else of the first that fits.
 * {python, folder, abi, version, of: a Python of knownPythons(), remove} or {problem}.
 */
export async function makeEnvironment(version, minor) {
  const known = knownPythons();
  const wanted = /^\d+\.\d+$/.test(version) ? `torch==${version}.*` : `torch==${version}`;
  const problems = [`no Python ${minor ?? ORDER.join(', ')} is here`];
  for (const name of minor ? [minor] : ORDER) {
    const of = known.find(one => one.minor === name);
    if (!of) continue;
    const folder = inRoot('build/compat', `torch-${version}-python-${name}`);
    const remove = () => rmSync(folder, { recursive: true, force: true });
    try {
      const python = await makeVenv(of.path, folder);
      const problem = await installTorch(python, wanted);
      if (problem === '') {
        await addMissingLibraries(libraryFolder(python));
        const torch = torchOf(python);
        if (torch) return { ...torch, of, remove };
        problems.push(importError(python));
      } else problems.push(problem);
    } catch (error) {
      problems.push(error.message.split('\n')[0]);
    }
    remove();
  }
  return { problem: problems.find(text => /import/.test(text)) ?? problems.at(-1) };
}

const libraryFolder = python =>
  execFileSync(
    python,
    ['-c', 'import importlib.util, os; print(os.path.dirname(importlib.util.find_spec("torch").origin))'],
    { encoding: 'utf8' },
  ).trim() + '/lib';

function importError(python) {
  try {
    execFileSync(python, ['-c', 'import torch'], { encoding: 'utf8', stdio: 'pipe' });
    return 'its build cannot be told';
  } catch (error) {
    return `import torch fails: ${error.stderr.trim().split('\n').at(-1)}`;
  }
}
