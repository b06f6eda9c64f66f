import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from '../../protocol/marks';

/** The launcher's facts, in the trace directory and in the saved trace. */
export interface SessionFile {
  version: 1;
  command: string[];
  cwd: string;
  startedRealtimeMs: number;
  simulated: boolean;
  backend: 'inject' | 'uprobe';
  /** The tracer came to a process that ran already: what that had allocated before is not in the trace. */
  attached?: { pid: number; realtimeMs: number };
  /** What the launcher started and waited for; a killed process has 128 + signal, as a shell gives it. */
  processes: { pid: number; exitCode: number | null }[];
  /** Moments that got a name, in the order in which they were taken. */
  marks?: Mark[];
}

const NAME = 'session.json';

/** Replaces `session.json` as a whole: a reader sees the old one or the new one. */
export function writeSession(directory: string, session: SessionFile): void {
  const file = join(directory, NAME);
  writeFileSync(`${file}.part`, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.part`, file);
}

/** The facts of a trace directory, null where there are none. */
export function readSession(directory: string): SessionFile | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(directory, NAME), 'utf8'));
    const session = value as SessionFile | null;
    return session?.version === 1 && Array.isArray(session.command) && Array.isArray(session.processes)
      ? session
      : null;
  } catch {
    return null;
  }
}

/** Notes how the processes do. What others wrote meanwhile, such as marks, stays. */
export function noteProcesses(directory: string, session: SessionFile): void {
  const marks = readSession(directory)?.marks;
  writeSession(directory, marks === undefined ? session : { ...session, marks });
}

/** Adds a mark; false where the directory has no session. */
export function addMark(directory: string, mark: Mark): boolean {
  const session = readSession(directory);
  if (session === null) return false;
  writeSession(directory, { ...session, marks: [...(session.marks ?? []), mark] });
  return true;
}
