// What the privileged tracer (native/uprobe) prints on its standard output: one JSON object a line.
import { parseFields } from '../../base/fields';

export interface TracerReady {
  type: 'ready';
  /** Kind of probe: uprobe_multi (Linux 6.6 and newer) or perf. */
  how: string;
  probes: number;
}
export interface TracerProblem {
  type: 'error';
  /** Of `no-btf`, `no-bpf` and `no-privilege` something is made here. `failed`: it did not run, or broke off. */
  code: string;
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

/** The message of a line, which may be of a kind of which nothing is made here; null for a line that is none. */
export function parseTracerLine(line: string): TracerMessage | null {
  return parseFields(line) as TracerMessage | null;
}

/** The answer of `self-test`, null when it is none. */
export function parseSelfTest(output: string): SelfTest | null {
  const fields = parseFields(output) as SelfTest | null;
  return typeof fields?.bpf === 'boolean' ? fields : null;
}
