// The stages of `npm test`. Each: {name, what, needs: what must be built for it, after: what it waits for, cores: how many it keeps
// busy, takes: what chooses among its tests, run}. run({paths, words}) gives {passed, failed, skipped: [reason, …], notes: [what
// failed, …]} or throws an Error. Long ones stand first, and what they wait for.
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { runHost } from '../host/runInCode.mjs';
import { runPageChecks } from '../page/all.mjs';
import { runArm64Quick, runArm64Whole } from '../arm64/suite.mjs';
import { bundle } from '../project/build.mjs';
import { checkClangFormat, checkOxfmt } from '../project/format.mjs';
import { buildChecked, buildNative, buildNativeTests } from '../project/native.mjs';
import { inRoot, run, log } from '../project/root.mjs';
import { ensureUprobeTools } from '../project/uprobeTools.mjs';
import { runDebuggerTests } from '../ecosystem/debugger/debuggerStage.mjs';
import { runTorchTests } from '../torch/torchStage.mjs';
import { runNodeTests, together } from './nodeTests.mjs';
import { preparePython } from './pythonPackages.mjs';
import { runEcosystemTests, runMetricsTests, runTablesTests } from '../ecosystem/ecosystemStages.mjs';

const bin = name => inRoot('node_modules/.bin', name);
/** What was found is kept, and holds while the text of every file is the same. */
const importsCache = ['--cache', 'build/imports', '--cache-strategy', 'content'];
/** A step that passes when the program ends with 0. */
const program = async (command, ...args) => ((await run(command, args)).code === 0 ? { passed: 1 } : { failed: 1 });
const quoted = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Of these of ctest's tests, those whose names begin so (trace_merge) or have such parts. */
async function runCtest({ paths, words }, ...which) {
  const chosen = [...paths.map(path => `^${quoted(path)}`), ...words.map(quoted)];
  // Most of their time is waiting: for probes to be set, for a program to end. One that takes so long hangs, also on a busy machine.
  const flags = [
    '--test-dir',
    'build/native',
    '--output-on-failure',
    '--timeout',
    '3000',
    '--no-tests=error',
    ...which,
  ];
  if (chosen.length > 0) flags.push('-R', chosen.join('|'));
  const { output } = await run('ctest', [...flags, '-j', String(2 * availableParallelism() + 1)], { capture: true });
  const sum = /tests passed, (\d+) tests? failed out of (\d+)/.exec(output);
  if (!sum) throw new Error('ctest gave no summary.');
  const names = how =>
    [...output.matchAll(new RegExp(`^\\s*\\d+ - (\\S+) \\((?:${how})\\)`, 'gm'))].map(([, name]) => name);
  const skipped = names('Skipped|Disabled').map(name => `native test ${name}`);
  return {
    passed: sum[2] - sum[1] - skipped.length,
    failed: Number(sum[1]),
    skipped,
    notes: names('Failed|Timeout|SEGFAULT|Subprocess aborted').map(name => `failed: ${name}`),
  };
}

async function runNativeTests(selected) {
  const result = await runCtest(selected, '-LE', 'checked');
  const left = await ensureUprobeTools();
  return left ? { ...result, skipped: [...result.skipped, left] } : result;
}

async function runCheckedTests(selected) {
  await buildChecked();
  return runCtest(selected, '-L', 'checked');
}

/** The bundled tests of one kind; `kind` names the folders test/<kind> and build/test/<kind>. `processes`: so many load all files. */
function nodeStage(kind, concurrency, processes = Infinity) {
  return async ({ paths, words }) => {
    const folder = inRoot('build/test', kind);
    const names = existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [];
    const tests = names
      .filter(name => name.endsWith('.test.js'))
      .filter(name => paths.length === 0 || paths.some(path => name.startsWith(path)))
      .map(name => inRoot('build/test', kind, name));
    if (tests.length === 0) throw new Error(`No *.test.ts of test/${kind} has this name: ${paths.join(' ')}`);
    const files = tests.length > processes ? together(kind, tests.sort(), processes) : tests.sort();
    return runNodeTests(kind, files, { concurrency, names: words });
  };
}

/** The bundles are made also when the native build fails, so that the tests that need only them still run. */
async function buildAll() {
  const built = { passed: 0, failed: 0 };
  for (const step of [bundle, buildNative])
    await step().then(
      () => built.passed++,
      error => {
        log(error.message);
        built.failed++;
      },
    );
  return built;
}

const ownPrograms = async () => {
  await buildNativeTests();
  return { passed: 1 };
};

async function inTurn(...checks) {
  const sum = { passed: 0, failed: 0 };
  for (const check of checks) {
    const { passed = 0, failed = 0 } = await check();
    sum.passed += passed;
    sum.failed += failed;
  }
  return sum;
}

const both = ['paths', 'words'];
const withPrograms = { needs: ['build', 'programs'], after: ['build', 'programs'] };
const tracing = { needs: ['build', 'python'], after: ['build', 'python'] };

export const stages = [
  { name: 'build', what: 'esbuild, and CMake for what ships', cores: 1.5, run: buildAll },
  { name: 'python', what: 'a Python with what tests read with', cores: 0, run: preparePython },
  {
    name: 'host',
    what: 'extension in VS Code on the simulated GPU',
    needs: ['build'],
    after: ['build'],
    cores: 0.7,
    takes: both,
    run: runHost,
  },
  {
    name: 'programs',
    what: 'CMake for the programs of native tests',
    needs: ['build'],
    after: ['build'],
    cores: 1,
    run: ownPrograms,
  },
  {
    name: 'native',
    what: 'ctest',
    needs: ['build', 'programs', 'python'],
    after: ['programs', 'python'],
    cores: 0.9,
    takes: both,
    run: runNativeTests,
  },
  {
    name: 'torch',
    what: 'planted leaks on PyTorch, without a GPU',
    ...tracing,
    after: ['build', 'python', 'programs'], // native tests wait longest: they begin first
    cores: 0.6,
    takes: ['paths'],
    run: ({ paths }) => runTorchTests(paths),
  },
  {
    name: 'arm64',
    what: 'the library in programs for arm64, under an emulator',
    after: ['build', 'python', 'programs'],
    cores: 1,
    run: runArm64Quick,
  },
  {
    name: 'page',
    what: 'the page in Chromium',
    cores: 1.1,
    takes: ['paths'],
    run: ({ paths }) => runPageChecks(paths),
  },
  {
    name: 'cli',
    what: 'command line on the simulated GPU',
    ...withPrograms,
    cores: 0.5,
    takes: both,
    run: nodeStage('cli', 2),
  },
  {
    name: 'unit',
    what: 'node:test',
    ...tracing,
    after: ['build', 'python', 'programs'],
    cores: 0.5,
    takes: both,
    run: nodeStage('unit', 2, 4),
  },
  { name: 'types', what: 'tsc -b', cores: 0.7, run: () => program(bin('tsc'), '-b') },
  {
    name: 'lint',
    what: 'oxlint; files made from the schema',
    cores: 0.5,
    run: () =>
      inTurn(
        () => program(bin('oxlint')),
        () => program(process.execPath, 'test/project/schema/generate.mjs', '--check'),
      ),
  },
  {
    name: 'imports',
    what: 'who imports whom, circles',
    cores: 0.5,
    run: () =>
      inTurn(
        () => program(bin('depcruise'), ...importsCache, 'extension', 'webview', 'test'),
        () => program(process.execPath, 'test/project/includeCircles.mjs'),
        () => program(process.execPath, 'test/project/paths.mjs'),
      ),
  },
  {
    name: 'golden',
    what: 'stored traces',
    ...withPrograms,
    cores: 0.5,
    takes: both,
    run: nodeStage('golden', 2),
  },
  { name: 'format', what: 'oxfmt, clang-format', cores: 0.7, run: () => inTurn(checkOxfmt, checkClangFormat) },
  {
    name: 'debugger',
    what: 'debugpy, by its protocol and in VS Code, on PyTorch without a GPU',
    ...tracing,
    onRequest: true,
    cores: 1,
    takes: ['words'],
    run: ({ words }) => runDebuggerTests(words),
  },
  {
    name: 'package',
    what: 'the Python package: wheel, recording, pytest',
    ...tracing,
    cores: 0.7,
    takes: ['words'],
    run: ({ words }) => runEcosystemTests(['wheel', 'pytest'], words),
  },
  {
    name: 'trainers',
    what: "the Python package in transformers' Trainer and Lightning",
    ...tracing,
    onRequest: true,
    cores: 1,
    takes: ['words'],
    run: ({ words }) => runEcosystemTests(['trainers'], words),
  },
  {
    name: 'launchers',
    what: 'jobs of many ranks under Slurm, mpirun, torchrun and Ray',
    ...tracing,
    onRequest: true,
    cores: 2,
    takes: ['words'],
    run: ({ words }) => runEcosystemTests(['launchers'], words),
  },
  {
    name: 'notebook',
    what: 'a real ipykernel under the tracer, through jupyter_client',
    ...tracing,
    onRequest: true,
    cores: 1,
    takes: ['words'],
    run: ({ words }) => runEcosystemTests(['notebook'], words),
  },
  {
    name: 'tables',
    what: 'the tables of a job in DuckDB, pyarrow, polars, ClickHouse and Spark',
    needs: ['build'],
    after: ['build'],
    onRequest: true,
    cores: 1,
    takes: ['words'],
    run: ({ words }) => runTablesTests(words),
  },
  {
    name: 'metrics',
    what: 'OpenTelemetry’s schema, and a Prometheus that scrapes a node_exporter',
    ...withPrograms,
    onRequest: true,
    cores: 1,
    takes: ['words'],
    run: ({ words }) => runMetricsTests(words),
  },
  {
    name: 'checked',
    what: 'readers of foreign bytes under damaged input, with address and undefined sanitizers',
    needs: ['build'],
    after: ['build'],
    onRequest: true,
    cores: 2,
    takes: both,
    run: runCheckedTests,
  },
  {
    name: 'emulated',
    what: 'all that is native, and the command line, for arm64 under an emulator',
    ...withPrograms,
    onRequest: true,
    cores: 2,
    takes: ['paths'],
    run: runArm64Whole,
  },
  {
    name: 'leaks',
    what: 'all planted leaks and training scripts on PyTorch',
    ...tracing,
    onRequest: true,
    cores: 2,
    run: () => runTorchTests(),
  },
];
