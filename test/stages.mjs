// The stages of `npm test`, in order. Each returns {passed, failed, skipped: [reason, …], notes: [what failed, …]} or
// throws an Error.
import { existsSync, readdirSync } from 'node:fs';
import { bundle } from './project/build.mjs';
import { checkClangFormat, checkPrettier } from './project/format.mjs';
import { buildNative } from './project/native.mjs';
import { ensureUprobeTools } from './project/uprobeTools.mjs';
import { inRoot, run } from './project/root.mjs';
import { runNodeTests } from './nodeTests.mjs';
import { runPageChecks } from './bench/webview/all.mjs';
import { runHost } from './host/run.mjs';
import { runTorchTests } from './torch/run.mjs';

const bin = name => inRoot('node_modules/.bin', name);
const verdict = ok => (ok ? { passed: 1 } : { failed: 1 });
/** A step that passes when the program ends with 0. */
const program = async (command, ...args) => verdict((await run(command, args)).code === 0);

/** Runs ctest and reads its summary: {passed, failed, skipped and failed names}. */
async function ctest(...args) {
  const flags = ['--test-dir', 'build/native', '--output-on-failure', '--timeout', '300', ...args];
  const { output } = await run('ctest', flags, { capture: true });
  const sum = /tests passed, (\d+) tests? failed out of (\d+)/.exec(output);
  if (!sum) throw new Error('ctest gave no summary.');
  const names = how =>
    [...output.matchAll(new RegExp(`^\\s*\\d+ - (\\S+) \\((?:${how})\\)`, 'gm'))].map(([, name]) => name);
  const skipped = names('Skipped|Disabled').map(name => `native test ${name}`);
  return {
    passed: sum[2] - sum[1] - skipped.length,
    failed: Number(sum[1]),
    skipped,
    names: names('Failed|Timeout|SEGFAULT|Subprocess aborted'),
  };
}

/** What fails beside other tests gets a second try, alone; the notes name it. */
async function runNativeTests() {
  const sum = await ctest('-j', '2');
  const again = sum.failed > 0 ? await ctest('--rerun-failed') : { passed: 0, failed: 0, names: [] };
  const left = await ensureUprobeTools();
  return {
    passed: sum.passed + again.passed,
    failed: again.failed,
    skipped: left ? [...sum.skipped, left] : sum.skipped,
    notes: [...sum.names.map(name => `tried again: ${name}`), ...again.names.map(name => `failed: ${name}`)],
  };
}

/** The bundled tests of one kind; `kind` names the folders test/<kind> and build/test/<kind>. `again`: where one fails all are
 * run a second time, which counts; the notes name what failed in the first. For tests of programs that run beside them. */
function nodeStage(kind, concurrency, again = false) {
  return async () => {
    const folder = inRoot('build/test', kind);
    const files = existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [];
    const tests = files.filter(name => name.endsWith('.test.js')).map(name => inRoot('build/test', kind, name));
    if (tests.length === 0) throw new Error(`test/${kind} holds no *.test.ts.`);
    const first = await runNodeTests(kind, tests.sort(), concurrency);
    if (first.failed === 0 || !again) return first;
    const second = await runNodeTests(kind, tests, concurrency);
    return { ...second, notes: [...first.notes.map(note => note.replace('failed:', 'tried again:')), ...second.notes] };
  };
}

const running = ['unit', 'golden', 'cli', 'torch', 'host'];

export const stages = [
  {
    name: 'format',
    what: 'prettier, clang-format',
    run: async () => sum(await checkPrettier(), await checkClangFormat()),
  },
  {
    name: 'lint',
    what: 'eslint, circles of includes',
    run: async () => sum(await program(bin('eslint'), '.'), await program('node', 'test/project/includeCircles.mjs')),
  },
  { name: 'types', what: 'tsc -b', run: () => program(bin('tsc'), '-b') },
  { name: 'build', what: 'CMake and esbuild', needed: ['native', ...running], run: buildAll },
  { name: 'native', what: 'ctest', run: runNativeTests },
  { name: 'unit', what: 'node:test', run: nodeStage('unit', 2) },
  { name: 'golden', what: 'stored traces', run: nodeStage('golden', 2) },
  { name: 'cli', what: 'command line on the simulated GPU', run: nodeStage('cli', 1, true) },
  { name: 'torch', what: 'planted leaks on PyTorch, without a GPU', run: runTorchTests },
  { name: 'page', what: 'the page in Chromium', run: runPageChecks },
  { name: 'host', what: 'extension in VS Code on the simulated GPU', run: runHost },
];

/** The bundles are made also when the native build fails, so that the tests that need only them still run. */
async function buildAll() {
  const built = { passed: 0, failed: 0 };
  for (const step of [buildNative, bundle])
    await step().then(
      () => built.passed++,
      error => {
        console.error(error.message);
        built.failed++;
      },
    );
  return built;
}

function sum(...results) {
  return results.reduce(
    (all, { passed = 0, failed = 0, skipped = [] }) => ({
      passed: all.passed + passed,
      failed: all.failed + failed,
      skipped: all.skipped.concat(skipped),
    }),
    { passed: 0, failed: 0, skipped: [] },
  );
}
