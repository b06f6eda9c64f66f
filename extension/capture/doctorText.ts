import type { Diagnosis } from './checks';

/** The checks as text, one a line, each with what to do about it. */
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
