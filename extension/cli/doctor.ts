import { diagnose, type Diagnosis } from '../capture/checks';
import { loadNative } from '../engine/addon';
import type { DoctorArguments } from './arguments';
import { print } from './output';

/** Checks the machine. Returns 0 when recording is possible, else 1. */
export async function doctor(options: DoctorArguments, dist: string): Promise<number> {
  const loaded = loadNative(dist);
  const diagnosis = await diagnose(dist, process.env, 'error' in loaded ? loaded.error : null);
  if (options.format === 'json') print(JSON.stringify({ version: 1, ...diagnosis }, null, 2));
  else print(doctorText(diagnosis));
  return diagnosis.gpu || diagnosis.simulated ? 0 : 1;
}

export function doctorText(diagnosis: Diagnosis): string {
  const lines: string[] = [];
  for (const check of diagnosis.checks) {
    lines.push(`${check.state.padEnd(8)} ${check.name.padEnd(17)} ${check.detail}`);
    if (check.fix !== '') lines.push(`${' '.repeat(27)}-> ${check.fix}`);
  }
  lines.push('', verdict(diagnosis));
  return lines.join('\n');
}

function verdict({ gpu, simulated }: Diagnosis): string {
  if (gpu) return 'Programs can be recorded on this machine.';
  if (simulated) return 'Programs can be recorded on the simulated GPU (--simulate-gpu), not on a real one.';
  return 'Nothing can be recorded on this machine until what is missing is there.';
}
