import type { DoctorCheck as Check } from '../../protocol/requests/doctorMessages';

/** One thing that was checked on this machine. */
export type { Check };

export function ok(name: string, detail: string): Check {
  return { name, state: 'ok', detail, fix: '' };
}
export function warning(name: string, detail: string, fix: string): Check {
  return { name, state: 'warning', detail, fix };
}
export function missing(name: string, detail: string, fix: string): Check {
  return { name, state: 'missing', detail, fix };
}
