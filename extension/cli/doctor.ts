import { diagnose } from '../capture/checks/checks';
import { doctorText } from '../capture/checks/doctorText';
import { loadNative } from '../engine/addon';
import type { DoctorArguments } from './arguments/arguments';
import { jsonChunks } from './report/jsonDocument';
import { print } from './report/output';
import { writeResult } from './report/resultFile';

/** Checks the machine. Returns 0 when recording is possible, else 1. */
export async function doctor(options: DoctorArguments, dist: string): Promise<number> {
  const loaded = loadNative(dist);
  const diagnosis = await diagnose(dist, process.env, 'error' in loaded ? loaded.error : null);
  if (options.format === 'json') writeResult(jsonChunks({ version: 1, ...diagnosis }), null);
  else print(doctorText(diagnosis));
  return diagnosis.gpu || diagnosis.simulated ? 0 : 1;
}
