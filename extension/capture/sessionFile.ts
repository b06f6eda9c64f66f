import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
}

/** Replaces `session.json` as a whole: a reader sees the old one or the new one. */
export function writeSession(directory: string, session: SessionFile): void {
  const file = join(directory, 'session.json');
  writeFileSync(`${file}.part`, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.part`, file);
}
