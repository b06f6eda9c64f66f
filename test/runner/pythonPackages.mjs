// A Python with the packages that some tests read with: where no Python here has them all, a virtual environment in the user's
// cache, made once for each list of packages.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inCache, run, log } from '../project/root.mjs';
import { pythons } from './pythons.mjs';

/** PyTorch's CPU build: the one for GPUs is 3 GB, and no test here has a GPU. */
const TORCH = 'torch==2.13.0+cpu';
const TORCH_INDEX = 'https://download.pytorch.org/whl/cpu';
const READERS = [TORCH, 'numpy', 'pyarrow', 'duckdb', 'polars', 'pytest', 'pytest-xdist'];
const ENGINES = ['duckdb', 'pyarrow', 'polars', 'chdb', 'pyspark'];
const TRAINERS = [TORCH, 'numpy', 'transformers', 'accelerate', 'lightning', 'tensorboard'];
/** The types that protoc made of OpenTelemetry's files. */
const OTLP = 'opentelemetry-proto';
/** The API's own schemas. */
const KUBERNETES = 'kubernetes-validate';
const [OLDEST, NEWEST] = [10, 14];

const MODULES = {
  [TORCH]: 'torch',
  'pytest-xdist': 'xdist',
  'ray[train]': 'ray',
  [OTLP]: 'opentelemetry.proto',
  [KUBERNETES]: 'kubernetes_validate',
};
const moduleOf = name => MODULES[name] ?? name;
const folderOf = packages => {
  const key = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 12);
  return inCache(`python-${key}`);
};

const answers = (python, code) => spawnSync(python, ['-c', code], { stdio: 'ignore' }).status === 0;
const hasAll = (python, packages) =>
  answers(
    python,
    `import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in ${JSON.stringify(packages.map(moduleOf))}))`,
  );
const fits = python =>
  answers(python, `import sys; sys.exit(not (3, ${OLDEST}) <= sys.version_info[:2] <= (3, ${NEWEST}))`);

/** The last reason that pip printed; one line. */
const reasonOf = output => output.match(/^ERROR: .*$/gm)?.[0] ?? output.trim().split('\n').at(-1) ?? '';

/** What stands behind `python` to install packages, without a question. */
export const PIP_INSTALL = ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--retries', '1'];

/** null when all is there; else one sentence why not. */
async function makeEnvironment(packages, folder) {
  const python = pythons().find(fits);
  if (!python) return `no Python 3.${OLDEST} to 3.${NEWEST} is here`;
  log(`Python packages for the tests (${packages.join(', ')}) are installed once, into ${folder}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const venv = await run(python, ['-m', 'venv', folder], { quiet: true });
  if (venv.code !== 0) return `${python} -m venv failed: ${reasonOf(venv.output)}`;
  const install = [...PIP_INSTALL, '--timeout', '20'];
  let last;
  for (const index of [[], ['--extra-index-url', TORCH_INDEX]]) {
    last = await run(join(folder, 'bin/python3'), [...install, ...index, ...packages], { quiet: true });
    if (last.code !== 0) continue;
    writeFileSync(join(folder, 'complete'), `${packages.join('\n')}\n`);
    return null;
  }
  rmSync(folder, { recursive: true, force: true });
  return `pip could not install them: ${reasonOf(last.output)}`;
}

/** A Python that has the packages: found, or made. {python} or {problem}. */
async function findOrMake(packages) {
  const there = pythons().find(python => hasAll(python, packages));
  if (there) return { python: there };
  const folder = folderOf(packages);
  const made = join(folder, 'bin/python3');
  if (existsSync(join(folder, 'complete')) && hasAll(made, packages)) return { python: made };
  const problem = await makeEnvironment(packages, folder);
  return problem === null ? { python: made } : { problem: `${packages.join(', ')} for Python: ${problem}` };
}

/**
 * Finds or makes that Python, and names it to what runs afterwards (GMT_TORCH_PYTHON). {passed} or {skipped: [reason]}.
 */
export async function preparePython() {
  const named = process.env.GMT_TORCH_PYTHON ?? '';
  const { python, problem } = await findOrMake(READERS);
  if (problem) return { skipped: [problem] };
  process.env.GMT_TORCH_PYTHON = [named, python].filter(Boolean).join(':');
  log(`${python} has ${READERS.map(moduleOf).join(', ')}`);
  return { passed: 1 };
}

/** One with a Jupyter kernel, and what drives it: {python} or {problem}. */
export const prepareNotebooks = () => findOrMake([TORCH, 'numpy', 'ipykernel', 'jupyter_client']);

/** One that reads OTLP: {python} or {problem}. */
export const prepareMetrics = () => findOrMake([OTLP]);

/** One that knows Kubernetes' API: {python} or {problem}. */
export const prepareKubernetes = () => findOrMake([KUBERNETES]);

/** One with Ray: {python} or {problem}. */
export const prepareRay = () => findOrMake([TORCH, 'numpy', 'ray[train]']);

/** One with trainers: {python} or {problem}. */
export const prepareTrainers = () => findOrMake(TRAINERS);

/** One with the engines that read a job's tables: {python} or {problem}. */
export const prepareEngines = () => findOrMake(ENGINES);
