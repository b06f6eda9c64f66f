// The native parts for arm64, made by a cross compiler and run by an emulator. It orders memory as x86-64 does and has this kernel's
// pages: what hangs on either is not shown here.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeWheel } from '../ecosystem/installed.mjs';
import { inRoot, log, run } from '../project/root.mjs';
import { runNodeTests } from '../runner/nodeTests.mjs';
import { crossBuild } from './crossBuild.mjs';
import { ADDRESSES, COMPILER_ROOT, machine, prepareCompiler, preparePrograms, withArm64Programs } from './machine.mjs';

/** Tests of the library in a program that run in seconds under the emulator, and need no Python of that processor. */
const QUICK = [
  ...['Threads', 'Late', 'Control', 'Guests', 'Children.test_a_forked_child_has_its_own_log'],
  ...['Children.test_a_fork_amid_a_thread_s_first_event', 'Children.test_a_child_without_allocations_has_no_log'],
];
/** Of the command line: runs from the first event to the report. What else it does is not native. */
const COMMAND_LINE = [
  'recording/',
  'libraryCallers',
  'peak',
  'oom',
  'keptMemory',
  'jobOfRanks',
  'snapshotReport',
  'folded',
];
/** What the emulator cannot show, by ctest's name. */
const NOT_EMULATED = {
  inject_races: 'the thread sanitizer does not run under it',
  recorder_full: 'it gives the handler of a bus error an address that is a page off',
};
/** The same of the command line, by how a test's name begins. The emulator maps a program's code without the right to execute. */
const HAS_NO_CODE = [
  ...['Ctrl+C detaches', 'on a terminal all of it is the view', 'under sudo', 'SIGTERM and SIGHUP detach'],
  ...['a signal that comes after the detach', 'the end of the program ends it', '--format json prints one document'],
  ...['what the tracer refuses', 'missing rights', 'a tracer that breaks off', 'events that the tracer lost'],
  'a program whose PyTorch was built without CUDA',
];

/** Runs a file of Python's unittest; counts its tests. */
async function runPythonTests(file, words = [], env = {}) {
  const { code, output } = await run('python3', [file, ...words], { capture: true, env });
  const count = Number(/^Ran (\d+) tests?/m.exec(output)?.[1] ?? 0);
  const bad = [...output.matchAll(/(?:failures|errors)=(\d+)/g)].reduce((sum, [, number]) => sum + Number(number), 0);
  const failed = code === 0 && count > 0 ? 0 : Math.max(bad, 1);
  return { passed: Math.max(count - failed, 0), failed };
}

/** The order of memory by a model, and a part of the library's tests: events, threads, forks and switches of programs that are not Python. */
export async function runArm64Quick() {
  const model = await runPythonTests('test/arm64/memory_order_test.py');
  const ready = await prepareCompiler();
  if (typeof ready === 'string') return { ...model, skipped: [ready] };
  await crossBuild(['inject_programs']);
  const library = await runPythonTests('test/native/inject/writer_test.py', QUICK, {
    GMT_LIBRARY: machine('dist/native/libgpumemtrace.so'),
    GMT_BUILT: machine('native/test/native/inject'),
    GMT_SIMULATOR: machine('build/simulator'),
    GMT_EMULATOR: `${ready.emulator} -R ${ADDRESSES} -L ${COMPILER_ROOT}`,
    PYTHONDONTWRITEBYTECODE: '1',
  });
  return { passed: model.passed + library.passed, failed: model.failed + library.failed };
}

/** Cases that files of Python's unittest left out in ctest's last run, each with its reason. */
function skippedCases() {
  const text = readFileSync(machine('native/Testing/Temporary/LastTest.log'), 'utf8');
  return [...text.matchAll(/^(test_\w+) \(.*\)(?:\n.*)? \.\.\. skipped (['"])(.*)\2$/gm)].map(
    ([, name, , why]) => `${name}: ${why}`,
  );
}

/** A checkout whose native parts are those for arm64, for the tests of the command line. */
function makeCheckout() {
  for (const name of ['dist', 'media', 'build/test/cli', 'package.json'])
    cpSync(inRoot(name), machine(name), { recursive: true, filter: path => !path.includes('dist/native') });
  for (const name of ['test', 'extension']) {
    rmSync(machine(name), { force: true });
    symlinkSync(inRoot(name), machine(name));
  }
  mkdirSync(machine('build/native'), { recursive: true });
  rmSync(machine('build/native/test'), { force: true });
  symlinkSync(machine('native/test'), machine('build/native/test'));
}

/** The Python package: the library is loaded by a running program. */
async function testWheel(python, program) {
  const folder = machine('build/test/wheel');
  rmSync(folder, { recursive: true, force: true });
  const env = {
    GMT_BUILT_ROOT: machine(),
    GMT_TORCH_PYTHON: python,
    GMT_WHEEL: await makeWheel(python, folder, machine('dist/native')),
  };
  return runNodeTests('arm64-wheel', [inRoot('test/ecosystem/wheel.test.mjs')], { env, program });
}

/** All native tests, and the command line's, on Python and Node for arm64. */
export async function runArm64Whole({ paths }) {
  const ready = await prepareCompiler();
  if (typeof ready === 'string') return { passed: 0, failed: 0, skipped: [ready] };
  const { python, node, root } = await preparePrograms();
  const env = {
    QEMU_LD_PREFIX: root,
    QEMU_RESERVED_VA: ADDRESSES,
    PYTHON: 'python3',
    PATH: `${dirname(python)}:${process.env.PATH}`,
  };
  const left = [
    ...Object.entries(NOT_EMULATED),
    ...HAS_NO_CODE.map(name => [name, 'from outside, an emulated program has no code, so no driver']),
  ];
  const sum = { passed: 0, failed: 0, skipped: left.map(pair => pair.join(': ')), notes: [] };
  const started = await withArm64Programs(ready.emulator, async () => {
    await crossBuild(['all', 'tests'], machine('dist/native'), python);
    Object.assign(process.env, env);
    const skipped = Object.keys(NOT_EMULATED).join('|');
    const flags = ['--test-dir', machine('native'), '-LE', 'checked', '-E', `^(${skipped})$`, '--timeout', '900'];
    const native = await run('ctest', [...flags, '--output-on-failure', '-j', '3'], { capture: true });
    const [, failed, of] = /(\d+) tests? failed out of (\d+)/.exec(native.output) ?? [0, 1, 1];
    sum.failed += Number(failed);
    sum.passed += of - failed;
    sum.skipped.push(...skippedCases());
    makeCheckout();
    const folder = machine('build/test/cli');
    const files = readdirSync(folder, { recursive: true })
      .map(String)
      .filter(name => name.endsWith('.test.js'));
    const chosen = files
      .filter(name => (paths.length === 0 ? COMMAND_LINE : paths).some(path => name.startsWith(path)))
      .sort();
    const cli = await runNodeTests(
      'arm64',
      chosen.map(name => `${folder}/${name}`),
      { concurrency: 2, program: node, except: HAS_NO_CODE },
    );
    const wheel = paths.length === 0 ? await testWheel(python, node) : {};
    for (const part of [cli, wheel]) {
      for (const key of ['passed', 'failed']) sum[key] += part[key] ?? 0;
      for (const key of ['skipped', 'notes']) sum[key].push(...(part[key] ?? []));
    }
  });
  if (!started) return { passed: 0, failed: 0, skipped: ['the kernel starts no programs of another processor here'] };
  log(`arm64: ${sum.passed} passed, ${sum.failed} failed under emulation`);
  return sum;
}
