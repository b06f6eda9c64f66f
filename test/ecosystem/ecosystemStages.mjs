// The Python package as users have it: its wheel, installed into virtual environments of its own. And a Jupyter kernel, and those who
// collect metrics.
import { rmSync } from 'node:fs';
import { inRoot } from '../project/root.mjs';
import { ensurePrograms } from '../project/systemPackages.mjs';
import { runNodeTests } from '../runner/nodeTests.mjs';
import {
  prepareEngines,
  prepareKubernetes,
  prepareMetrics,
  prepareNotebooks,
  prepareRay,
  prepareTrainers,
} from '../runner/pythonPackages.mjs';
import { findTorch, standInVariables } from '../torch/standIn.mjs';
import { makeWheel } from './installed.mjs';

/** Files of this folder, without their ending. {passed, failed, skipped, notes} */
export async function runEcosystemTests(names, words) {
  const torch = findTorch();
  if (!torch) return { skipped: ['the Python package: no Python here has PyTorch; GMT_TORCH_PYTHON may name one'] };
  const env = { GMT_TORCH_PYTHON: torch.python };
  const files = names.map(name => inRoot(`test/ecosystem/${name}.test.mjs`));
  if (names.includes('trainers')) {
    const { python, problem } = await prepareTrainers();
    if (problem) return { skipped: [problem] };
    Object.assign(env, await standInVariables(torch), { GMT_TRAINERS_PYTHON: python });
  }
  if (names.includes('launchers')) {
    // What is not there is skipped by name.
    await ensurePrograms(['munged', 'slurmctld', 'slurmd', 'srun', 'mpirun'], ['slurm-wlm', 'munge', 'openmpi-bin']);
    const [ray, kubernetes] = [await prepareRay(), await prepareKubernetes()];
    Object.assign(env, ray.problem ? { GMT_NO_RAY: ray.problem } : { GMT_RAY_PYTHON: ray.python });
    const { python, problem } = kubernetes;
    Object.assign(env, problem ? { GMT_NO_KUBERNETES: problem } : { GMT_KUBERNETES_PYTHON: python });
  }
  if (names.includes('notebook')) {
    const { python, problem } = await prepareNotebooks();
    if (problem) return { skipped: [problem] };
    Object.assign(env, await standInVariables({ ...torch, python }), { GMT_NOTEBOOK_PYTHON: python });
  }
  rmSync(inRoot('build/test/ecosystem', names[0]), { recursive: true, force: true });
  return runNodeTests(names[0], files, {
    concurrency: 2,
    mostSeconds: 1200,
    names: words,
    env: { ...env, GMT_WHEEL: await makeWheel(torch.python, inRoot('build/test/ecosystem', names[0])) },
  });
}

/** A job's tables, in every engine that they are for. */
export async function runTablesTests(words) {
  const { python, problem } = await prepareEngines();
  if (problem) return { skipped: [problem] };
  const file = inRoot('test/ecosystem/tables.test.mjs');
  return runNodeTests('tables', [file], { mostSeconds: 1200, names: words, env: { GMT_TABLES_PYTHON: python } });
}

/** Without Prometheus, what needs it is skipped by name. */
export async function runMetricsTests(words) {
  const { python, problem } = await prepareMetrics();
  if (problem) return { skipped: [problem] };
  const programs = ['prometheus', 'promtool', 'prometheus-node-exporter'];
  const absent = await ensurePrograms(programs, ['prometheus', 'prometheus-node-exporter']);
  return runNodeTests('metrics', [inRoot('test/ecosystem/metrics.test.mjs')], {
    mostSeconds: 1200,
    names: words,
    env: { GMT_METRICS_PYTHON: python, GMT_NO_PROMETHEUS: absent ?? '' },
  });
}
