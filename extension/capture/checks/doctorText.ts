import type { Check } from './check';
import type { Diagnosis } from './checks';

/** The checks, one a line, each with what to do about it; then those of attaching. */
export function doctorText(diagnosis: Diagnosis): string[] {
  const { attach } = diagnosis;
  return [
    ...diagnosis.checks.flatMap(checkLines),
    '',
    verdict(diagnosis),
    '',
    'attach',
    ...attach.checks.flatMap(checkLines),
    '',
    attach.possible
      ? 'Attaching to running programs is possible here (gpu-memtrace attach PID).'
      : 'Attaching to running programs is not possible here; programs that are started with gpu-memtrace run do not need it.',
  ];
}

function checkLines({ state, name, detail, fix }: Check): string[] {
  const line = `${state.padEnd(8)} ${name.padEnd(17)} ${detail}`;
  return fix === '' ? [line] : [line, `${' '.repeat(27)}-> ${fix}`];
}

function verdict({ gpu, simulated }: Diagnosis): string {
  if (gpu) return 'Programs can be recorded on this machine.';
  if (simulated) return 'Programs can be recorded on the simulated GPU (--simulate-gpu), not on a real one.';
  return 'Nothing can be recorded on this machine until what is missing has been added.';
}
