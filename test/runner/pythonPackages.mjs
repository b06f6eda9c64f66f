// A Python with the packages that some tests read with: where no Python here has them all, a virtual environment in the user's
// cache, made once for each list of packages.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run, say } from '../project/root.mjs';
import { pythons } from './pythons.mjs';

/** PyTorch's CPU build: the one for GPUs is 3 GB, and no test here has a GPU. */
const TORCH = 'torch==2.13.0+cpu';
const TORCH_INDEX = 'https://download.pytorch.org/whl/cpu';
const PACKAGES = [TORCH, 'numpy', 'pyarrow', 'duckdb', 'polars'];
const MODULES = ['torch', 'numpy', 'pyarrow', 'duckdb', 'polars'];
const [OLDEST, NEWEST] = [10, 14];

const key = createHash('sha256').update(PACKAGES.join(' ')).digest('hex').slice(0, 12);
const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gpu-memory-trace', `python-${key}`);
const made = join(folder, 'bin/python3');
const complete = join(folder, 'complete');

const answers = (python, code) => spawnSync(python, ['-c', code], { stdio: 'ignore' }).status === 0;
const hasAll = python =>
  answers(
    python,
    `import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in ${JSON.stringify(MODULES)}))`,
  );
const fits = python =>
  answers(python, `import sys; sys.exit(not (3, ${OLDEST}) <= sys.version_info[:2] <= (3, ${NEWEST}))`);

/** What pip said last that tells why; one line. */
const reasonOf = output => output.match(/^ERROR: .*$/gm)?.[0] ?? output.trim().split('\n').at(-1) ?? '';

/** null when all is there; else one sentence why not. */
async function makeEnvironment() {
  const python = pythons().find(fits);
  if (!python) return `no Python 3.${OLDEST} to 3.${NEWEST} is here`;
  say(`Python packages for the tests (${PACKAGES.join(', ')}) are installed once, into ${folder}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const venv = await run(python, ['-m', 'venv', folder], { quiet: true });
  if (venv.code !== 0) return `${python} -m venv failed: ${reasonOf(venv.output)}`;
  const install = [
    '-m',
    'pip',
    'install',
    '--no-input',
    '--disable-pip-version-check',
    '--retries',
    '1',
    '--timeout',
    '20',
  ];
  let last;
  for (const index of [[], ['--extra-index-url', TORCH_INDEX]]) {
    last = await run(made, [...install, ...index, ...PACKAGES], { quiet: true });
    if (last.code !== 0) continue;
    writeFileSync(complete, `${PACKAGES.join('\n')}\n`);
    return null;
  }
  rmSync(folder, { recursive: true, force: true });
  return `pip could not install them: ${reasonOf(last.output)}`;
}

/**
 * Finds or makes that Python, and names it to what runs afterwards (GMT_TORCH_PYTHON). {passed} or {skipped: [reason]}.
 */
export async function preparePython() {
  const named = process.env.GMT_TORCH_PYTHON ?? '';
  const use = python => {
    process.env.GMT_TORCH_PYTHON = [named, python].filter(Boolean).join(':');
    say(`${python} has ${MODULES.join(', ')}`);
    return { passed: 1 };
  };
  const there = pythons().find(hasAll);
  if (there) return use(there);
  if (existsSync(complete) && hasAll(made)) return use(made);
  const problem = await makeEnvironment();
  return problem === null ? use(made) : { skipped: [`${MODULES.join(', ')} for Python: ${problem}`] };
}
