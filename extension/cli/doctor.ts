import type { Check } from '../capture/checks/check';
import { diagnose, type Diagnosis } from '../capture/checks/diagnose';
import { loadNative } from '../native/addon';
import type { DoctorArguments } from './arguments/arguments';
import { jsonChunks } from './report/jsonChunks';
import { print } from './output/output';
import { writeResult } from './output/resultFile';

/** Checks the machine. Returns 0 when recording is possible, else 1. */
export async function doctor(options: DoctorArguments, dist: string): Promise<number> {
  const loaded = loadNative(dist);
  const diagnosis = await diagnose(dist, process.env, 'error' in loaded ? loaded.error : null);
  if (options.format === 'json') writeResult(jsonChunks({ version: 1, ...diagnosis }), null);
  else print(doctorText(diagnosis));
  return diagnosis.gpu ? 0 : 1;
}

/** The checks, one a line, each with what to do about it; then those of attaching. */
function doctorText(diagnosis: Diagnosis): string[] {
  const { attach } = diagnosis;
  return [
    ...diagnosis.checks.flatMap(checkLines),
    '',
    verdict(diagnosis),
    '',
    'attach',
    ...attach.checks.flatMap(checkLines),
    '',
    attachVerdict(diagnosis),
  ];
}

function checkLines({ state, name, detail, fix }: Check): string[] {
  const line = `${state.padEnd(8)} ${name.padEnd(17)} ${detail}`;
  return fix === '' ? [line] : [line, `${' '.repeat(27)}-> ${fix}`];
}

function attachVerdict({ gpu, attach }: Diagnosis): string {
  if (!attach.possible)
    return 'Attaching to running programs is not possible here. Programs started with gpu-memtrace run do not need it.';
  return gpu
    ? 'Attaching to running programs is possible here (gpu-memtrace attach PID).'
    : 'The privileges for attaching are set, but the problems above must be fixed first.';
}

function verdict({ gpu }: Diagnosis): string {
  if (gpu) return 'Programs can be recorded on this machine.';
  return 'Nothing can be recorded on this machine until the problems above are fixed.';
}
