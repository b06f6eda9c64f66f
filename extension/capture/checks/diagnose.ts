import { accessSync, constants } from 'node:fs';
import { formatBytes } from '../../text/format';
import { diagnoseAttach } from './attachChecks';
import { missing, ok, warning, type Check } from './check';
import { injectedLibrary } from '../launch/environment';
import { traceRoots } from '../traces/folders';
import { builtFor } from '../processes/cpuReason';
import {
  cuptiCandidates,
  cuptiInstall,
  driverVersion,
  findGpus,
  findLibcuda,
  glibcVersion,
  output,
  pythonOnPath,
  pythonVersion,
  torchCuda,
  torchFolder,
  type Environment,
} from '../processes/machine';
import { injectionProblem } from './simulator';
import { createTraceDirectory, removeTraceDirectory } from '../traces/traceDirectory';

export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

/** Looks at all that recording needs. `nativeProblem`: why the addon does not load, null when it does; `python`: the programs' interpreter. */
export async function diagnose(
  dist: string,
  environment: Environment,
  nativeProblem: string | null,
  python = pythonOnPath(environment),
) {
  const gpu = await checkGpu(environment);
  const native: Check =
    nativeProblem === null ? ok('reader', 'the trace reader loads') : missing('reader', nativeProblem, REINSTALL);
  const [library, attach] = await Promise.all([checkLibrary(dist), diagnoseAttach(dist)]);
  const directory = checkDirectory(environment);
  const needed = [native, library, ...directory].every(check => check.state !== 'missing');
  return {
    checks: [
      gpu,
      checkCupti(environment, python),
      await checkPython(python),
      ...checkTorch(environment, python),
      native,
      library,
      ...directory,
    ],
    /** Recording is possible. */
    gpu: needed && gpu.state !== 'missing',
    /** Attaching to programs that run already. */
    attach,
  };
}

/** The driver is there. */
const NO_GPU = 'Check whether nvidia-smi lists a GPU; a container needs access to it (docker run --gpus all)';
const REINSTALL = 'reinstall GPU Memory Trace, or build it with: npm run build';

async function checkGpu(environment: Environment): Promise<Check> {
  const [libcuda, gpus] = await Promise.all([findLibcuda(environment), findGpus(environment)]);
  const fix = 'install the NVIDIA driver';
  if (libcuda === null && gpus.length === 0) return missing('GPU and driver', 'no GPU, no libcuda.so.1', fix);
  const names = gpus.join(', ');
  if (libcuda === null) return missing('GPU and driver', `${names}, but no libcuda.so.1`, fix);
  if (gpus.length === 0) return missing('GPU and driver', `${libcuda}, but no GPU`, NO_GPU);
  const version = driverVersion();
  return ok('GPU and driver', `${names}; ${libcuda}${version === null ? '' : `, driver ${version}`}`);
}

function checkCupti(environment: Environment, python: string | null): Check {
  const found = cuptiCandidates(environment, python);
  if (found[0] !== undefined) return ok('libcupti', found.join(', '));
  const torch = torchFolder(environment, python);
  const fix = `${cuptiInstall(torch && torchCuda(torch))} in the environment that runs the program, or install the CUDA toolkit (or set CUDA_HOME)`;
  const where = `none found next to ${python ?? 'Python'} or in a CUDA toolkit`;
  return warning('libcupti', `${where}: tensors are recorded, but driver allocations are not`, fix);
}

async function checkPython(interpreter: string | null): Promise<Check> {
  if (interpreter === null)
    return warning('Python', 'no python3 on PATH', 'put the interpreter of your program on PATH');
  const version = await pythonVersion(interpreter);
  if (version === null) return warning('Python', `${interpreter} does not run`, 'reinstall this Python');
  const [major, minor] = version.split('.').map(Number);
  const text = `${interpreter} ${version}`;
  if (major === 3 && minor !== undefined && minor >= 9 && minor <= 14) return ok('Python', text);
  const outside = `${text} is outside 3.9–3.14, so there are no Python lines`;
  return warning('Python', outside, 'run the program with Python 3.9–3.14');
}

/** No finding where there is none: a program may bring its own. */
function checkTorch(environment: Environment, python: string | null): Check[] {
  const folder = torchFolder(environment, python);
  const kinds = folder === null ? null : builtFor(folder);
  if (folder === null || kinds === null) return [];
  if (kinds.includes('cuda')) return [ok('PyTorch', `${folder} is built with CUDA`)];
  const fix = 'install a build with CUDA; https://pytorch.org/get-started/locally/ has the command';
  return [warning('PyTorch', `${folder} is built without CUDA`, fix)];
}

async function checkLibrary(dist: string): Promise<Check> {
  const name = 'injected library';
  const problem = injectionProblem(dist);
  if (problem !== null) return missing(name, problem, REINSTALL);
  const library = injectedLibrary(dist);
  const environment = { PATH: '/usr/bin:/bin', LD_PRELOAD: library };
  // The loader only warns about a library that it cannot preload: the maps of a process show it.
  const maps = await output('/bin/cat', ['/proc/self/maps'], environment);
  const libc = glibcVersion();
  if (maps?.includes(library)) return ok(name, `${library} loads${libc === null ? '' : ` (glibc ${libc})`}`);
  const fix = `see "LD_PRELOAD" in the message of: LD_PRELOAD=${library} true`;
  return missing(name, `${library} does not load into a process`, fix);
}

function checkDirectory(environment: Environment): Check[] {
  const uid = process.getuid?.() ?? 0;
  const made = createTraceDirectory(traceRoots(environment, uid), uid);
  if ('error' in made) return [missing('trace directory', made.error, 'set XDG_CACHE_HOME to a writable folder')];
  accessSync(made.path, constants.W_OK);
  removeTraceDirectory(made.path);
  const root = made.path.slice(0, made.path.lastIndexOf('/'));
  const space = `${formatBytes(made.freeBytes)} free`;
  return [
    ok('trace directory', root),
    made.note === null
      ? ok('disk space', space)
      : warning('disk space', made.note, 'free space there, or set XDG_CACHE_HOME to a folder on tmpfs, ext4 or xfs'),
  ];
}
