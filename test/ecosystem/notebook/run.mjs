// A Jupyter kernel under the tracer.
import { spawnSync } from 'node:child_process';
import { inRoot } from '../../project/root.mjs';
import { runNodeTests } from '../../runner/nodeTests.mjs';
import { pythons } from '../../runner/pythons.mjs';
import { findTorch, standInVariables } from '../../torch/standIn.mjs';

const NEEDED = 'import ipykernel, jupyter_client, torch';

/** {passed, failed, skipped, notes} */
export async function runNotebookTests(words) {
  const has = python => spawnSync(python, ['-c', NEEDED], { stdio: 'ignore' }).status === 0;
  const python = pythons().find(has);
  const torch = findTorch();
  if (!python || !torch)
    return {
      skipped: ['notebooks: no Python here has PyTorch, ipykernel and jupyter_client; GMT_TORCH_PYTHON may name one'],
    };
  const env = { ...(await standInVariables(torch)), GMT_NOTEBOOK_PYTHON: python };
  const files = [inRoot('test/ecosystem/notebook/notebook.test.mjs')];
  return runNodeTests('notebook', files, { concurrency: 1, mostSeconds: 300, names: words, env });
}
