// What runs on a real PyTorch, with tensors in main memory in the place of a GPU's.
import { runFiles, summed } from '../host/runInCode.mjs';
import { LONG } from '../long.mjs';
import { runNodeTests } from '../runner/nodeTests.mjs';
import { inRoot } from '../project/root.mjs';
import { TRAINING } from '../workloads/trainingScripts.mjs';
import { findTorch, standInVariables } from './standIn.mjs';

/** Some of each kind, for every run of the tests: what holds the leak, and what looks like a leak and is none. */
const CHOSEN = [
  'l01_loss_list', // a list
  'n01_adam_warmup', // the optimizer's state
  'two holders, asked', // of the same memory
  'recording that begins late (step)',
  'memory ran out of a leak',
  'passes are those of the job',
  'every gradient at its forward line',
];

/** What the long run has beside them. */
const MORE = [
  'l62_graph_nodes', // nodes of the autograd graph
  'no other holder', // of an old release's graphs
  'ranges of record_function',
  'a lean trace',
  'l09_thread', // another thread's list
  'l30_lru_cache', // a cache's own memory
  'n10_prefetch', // what a thread holds for a moment
  'recording that begins late',
  'behind the last step',
  'a test that keeps nothing',
  'the batch is too big',
  'one change of two',
  'a list and the graph',
  'a record of two tensors',
  'gradients of the step before',
  'outputs collected with their graphs',
  'losses summed with their graphs',
];

const FILES = [
  'plantedLeaks',
  'corpusPrograms',
  'twoHolders',
  'keptRecord',
  'lateRecording',
  'afterSteps',
  'memoryRunsOut',
  'trainingPasses',
  'recordFunction',
  'buildUp',
  'setUp',
  'exactness',
];

/** What the long run traces in the editor. */
const CHOSEN_SCRIPT = 'dqn.py';
/** Those of test/host may be open meanwhile. */
const OWN_WINDOW = 2;

/**
 * Jobs and training scripts whose names begin with one of `wanted`; none wanted: the chosen ones; not given: all, and the scripts from
 * the terminal too. {passed, failed, skipped, notes}
 */
export async function runTorchTests(wanted) {
  const torch = findTorch();
  if (!torch)
    return { skipped: ['leaks and training scripts on PyTorch: no Python here has it; GMT_TORCH_PYTHON may name one'] };
  const env = { ...(await standInVariables(torch)), GMT_TORCH_PYTHON: torch.python };
  const { jobs, scripts } = chosen(wanted);
  const all = wanted === undefined;
  const files = all || jobs.length > 0 ? [...FILES, ...(all ? ['trainingScripts'] : [])] : [];
  const tests = files.map(name => inRoot(`test/torch/${name}.test.mjs`));
  const results = [];
  if (tests.length > 0) results.push(await runNodeTests('torch', tests, { mostSeconds: 1200, names: jobs, env }));
  const folder = inRoot('build/test/torch/editor');
  if (scripts.length > 0) results.push(await runFiles(['training'], OWN_WINDOW, scripts, { folder, env }));
  return summed(results);
}

function chosen(wanted) {
  const all = TRAINING.map(({ name }) => name);
  if (wanted === undefined) return { jobs: [], scripts: all };
  if (wanted.length === 0)
    return LONG ? { jobs: [...CHOSEN, ...MORE], scripts: [CHOSEN_SCRIPT] } : { jobs: CHOSEN, scripts: [] };
  const scripts = all.filter(name => wanted.some(begin => name.startsWith(begin)));
  return { jobs: wanted.filter(begin => !all.some(name => name.startsWith(begin))), scripts };
}
