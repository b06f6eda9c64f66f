// What the privileged tracer (native/uprobe) says on its standard output: one JSON object a line.
import { parseFields } from '../../protocol/fields';

/** Reasons of the tracer that something is made of here. */
const ERROR_CODES = ['no-btf', 'no-bpf', 'no-privilege'] as const;

/** `failed`: any other reason, or the tracer did not run, or broke off. */
type TracerErrorCode = (typeof ERROR_CODES)[number] | 'failed';

export interface TracerReady {
  type: 'ready';
  /** Kind of probe: uprobe_multi (Linux 6.6 and newer) or perf. */
  how: string;
  probes: number;
}
export interface TracerProblem {
  type: 'error';
  code: TracerErrorCode;
  /** One sentence. */
  message: string;
}
export type TracerMessage =
  | TracerReady
  | TracerProblem
  /** Events that could not be recorded: of now, and of all. */
  | { type: 'lost'; count: number }
  | { type: 'ended'; lost: number };

/** What `self-test` found. */
export interface SelfTest {
  bpf: boolean;
  btf: boolean;
  uprobeMulti: boolean;
  perfUprobe: boolean;
  privileged: boolean;
  message: string;
}

/** The message of a line; null for a line that is none, also for kinds of which nothing is made here. */
export function parseTracerLine(line: string): TracerMessage | null {
  const fields = parseFields(line);
  if (fields === null) return null;
  switch (fields.type) {
    case 'ready':
      return { type: 'ready', how: text(fields.how), probes: number(fields.probes) };
    case 'lost':
      return { type: 'lost', count: number(fields.count) };
    case 'ended':
      return { type: 'ended', lost: number(fields.lost) };
    case 'error':
      return {
        type: 'error',
        code: ERROR_CODES.find(code => code === fields.code) ?? 'failed',
        message: text(fields.message) || 'The tracer failed without giving a reason.',
      };
    default:
      return null;
  }
}

/** The answer of `self-test`, null when it is none. */
export function parseSelfTest(output: string): SelfTest | null {
  const fields = parseFields(output);
  if (fields === null || typeof fields.bpf !== 'boolean') return null;
  const flag = (name: string): boolean => fields[name] === true;
  return {
    bpf: fields.bpf,
    btf: flag('btf'),
    uprobeMulti: flag('uprobeMulti'),
    perfUprobe: flag('perfUprobe'),
    privileged: flag('privileged'),
    message: text(fields.message),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
function number(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
