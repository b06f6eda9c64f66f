// debugpy itself, by its protocol and in VS Code, with programs on a real PyTorch and tensors in main memory in the place of a GPU's.
import { existsSync } from 'node:fs';
import { runFiles, summed } from '../../host/runInCode.mjs';
import { inRoot, run } from '../../project/root.mjs';
import { runNodeTests } from '../../runner/nodeTests.mjs';
import { PIP_INSTALL } from '../../runner/pythonPackages.mjs';
import { findTorch, standInVariables } from '../../torch/standIn.mjs';

/** Those of test/host and test/torch may be open meanwhile. */
const OWN_WINDOW = 3;

/** Installs debugpy beside that Python; one sentence where it cannot be. */
async function prepareDebugpy(python, folder) {
  if (existsSync(`${folder}/debugpy`)) return null;
  const { code, output } = await run(python, [...PIP_INSTALL, '--target', folder, 'debugpy'], { quiet: true });
  return code === 0 ? null : `debugpy: pip could not install it: ${output.trim().split('\n').at(-1)}`;
}

/** {passed, failed, skipped, notes} */
export async function runDebuggerTests(words) {
  const torch = findTorch();
  if (!torch) return { skipped: ['the debugger: no Python here has PyTorch; GMT_TORCH_PYTHON may name one'] };
  const debugpy = inRoot('build/debugpy');
  const problem = await prepareDebugpy(torch.python, debugpy);
  if (problem) return { skipped: [problem] };
  const env = { ...(await standInVariables(torch)), GMT_TORCH_PYTHON: torch.python, GMT_DEBUGPY: debugpy };
  const tests = [inRoot('test/ecosystem/debugger/protocol.test.mjs')];
  const told = await runNodeTests('debugger', tests, { mostSeconds: 300, names: words, env });
  const beside = [inRoot('test/ecosystem/debugger/extension')];
  const folder = inRoot('build/test/ecosystem/debugger');
  return summed([told, await runFiles(['debugger'], OWN_WINDOW, words, { folder, env, beside })]);
}
