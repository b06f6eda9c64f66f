// The wheel in a virtual environment, and programs that run in it on the simulated GPU.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { built, simulated } from '../simulator/variables.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const jobs = join(root, 'test/ecosystem/jobs');
export const examples = join(root, 'docs/examples');
export const linkCheck = join(root, 'test/project/links.mjs');
export const cli = join(built, 'dist/cli.js');
/** What an emulator of another processor is given; nothing without one. */
const emulator = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('QEMU_')));
/** The marks of a saved trace. */
export const marksOf = file => sessionOf(file).marks.map(({ name }) => name);

/** Packs the wheel of what is built in `native` into the folder; its path. */
export async function makeWheel(python, folder, native = join(built, 'dist/native')) {
  execFileSync(python, [join(root, 'test/project/wheel.py'), native, folder], { encoding: 'utf8' });
  return join(
    folder,
    readdirSync(folder).find(name => name.endsWith('.whl')),
  );
}

/** A new folder, and a Python in it that has the wheel and, of `beside`, that Python's packages. No compiler is in reach. */
export function installed({ beside = null } = {}) {
  const folder = mkdtempSync(join(dirname(process.env.GMT_WHEEL), 'venv-'));
  const venv = join(folder, 'venv');
  const python = join(venv, 'bin/python');
  const base = process.env.GMT_TORCH_PYTHON;
  const told = (program, words, env) =>
    execFileSync(program, words, { encoding: 'utf8', env: { ...emulator, ...env, PATH: '/nowhere' } });
  told(base, ['-m', 'venv', '--without-pip', venv], {});
  const pip = ['-m', 'pip', '--python', python, '--disable-pip-version-check', 'install', '--no-index', '--quiet'];
  told(base, [...pip, process.env.GMT_WHEEL], { HOME: folder });
  const packages = of => told(of, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], {}).trim();
  if (beside) writeFileSync(join(packages(python), 'beside.pth'), `${packages(beside)}\n`);
  return { folder, python, packages: packages(python) };
}

/** The environment of programs on the simulated GPU. */
export const SIMULATED = {
  ...simulated,
  PATH: process.env.PATH,
  PYTHONPATH: join(root, 'test/workloads'),
};

/** Runs Python in the folder, with live traces in it, on the simulated GPU or in the environment `on`. {status, signal, stdout, stderr} */
export function runPython({ folder, python }, words, env = {}, on = SIMULATED) {
  const own = {
    ...emulator,
    HOME: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_RUNTIME_DIR: '',
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return spawnSync(python, words, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...on, ...own, ...env },
  });
}

/** The trace as `gpu-memtrace report --format json` tells it. */
export const reportOf = file => JSON.parse(tableOf(file, '--format', 'json'));

/** As `gpu-memtrace report` shows it. */
export function tableOf(file, ...options) {
  const words = [cli, 'report', file, ...options];
  return execFileSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 1 << 30 });
}

/** What the launcher wrote into a saved trace. */
function sessionOf(file) {
  const text = readFileSync(file, 'latin1');
  const line = /\{"version": 1, "command".*\}(?=\n)/.exec(text);
  assert.ok(line, `${file} has no session`);
  return JSON.parse(line[0]);
}

/** What a trainer logged, without what the clock says and what the callback adds. */
export const learned = log =>
  log
    .filter(entry => !('gpu_memory/live' in entry))
    .map(({ loss, grad_norm, eval_loss, step }) => ({ loss, grad_norm, eval_loss, step }));

/** Live and peak bytes, allocations and frees of the tensor layer. */
export function tensors(report) {
  const total = report.totals.find(({ layer }) => layer === 'tensor');
  assert.ok(total, 'the trace has tensors');
  const { liveBytes, peakBytes, allocations, frees } = total;
  return { liveBytes, peakBytes, allocations, frees };
}

/** Trace directories that are left in the cache of the folder. */
export function liveTraces({ folder }) {
  return readdirSync(join(folder, 'cache/gpu-memory-trace/live'));
}
