import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from '../../protocol/marks';
import { isFull } from './traceDirectory';
import { parseFields } from '../../base/fields';
import { overwrite, readTextIn, writeWhole } from '../../files/files';

/** The launcher's facts, in the trace directory and in the saved trace. */
export interface SessionFile {
  version: 1;
  command: string[];
  cwd: string;
  startedRealtimeMs: number;
  /** It was started on the simulated GPU (--simulate-gpu). */
  simulated?: boolean;
  backend: 'inject' | 'uprobe';
  /** The tracer came to a process that ran already: what that had allocated before is not in the trace. */
  attached?: { pid: number; realtimeMs: number };
  /** What the launcher started and waited for; a killed process has 128 + signal, as a shell gives it. */
  processes: { pid: number; exitCode: number | null }[];
  /** Of the Git repository that it was started in. */
  git?: { branch: string; commit: string };
  /** Moments that got a name, in the order in which they were taken. */
  marks?: Mark[];
}

const NAME = 'session.json';
/** What `stat` counts the space of a file in. */
const BLOCK_BYTES = 512;

/** Replaces `session.json` as a whole: a reader sees the old one or the new one. Throws where there is no room. */
export function writeSession(directory: string, session: SessionFile): void {
  const file = join(directory, NAME);
  const text = `${JSON.stringify(session, null, 2)}\n`;
  try {
    writeWhole(file, [text], { mode: 0o600, ofTrace: true });
  } catch (error) {
    const old = statSync(file, { throwIfNoEntry: false });
    if (!isFull(error) || old === undefined || Buffer.byteLength(text) > old.blocks * BLOCK_BYTES) throw error;
    // On a full disk what has its place already can still be written over.
    overwrite(file, text.padEnd(old.size));
  }
}

/** The facts of a trace directory, null where there are none. */
export function readSession(directory: string): SessionFile | null {
  const session = parseFields(readTextIn(directory, NAME)) as SessionFile | null;
  return session?.version === 1 && Array.isArray(session.command) && Array.isArray(session.processes) ? session : null;
}

/** Notes how the processes do, where that can be written. What others wrote meanwhile, such as marks, stays. */
export function recordProcesses(directory: string, session: SessionFile): void {
  const marks = readSession(directory)?.marks;
  try {
    writeSession(directory, marks === undefined ? session : { ...session, marks });
  } catch {
    // The directory is gone or has no room: only the logs show what happened.
  }
}

/** Adds a mark; false where the directory has no session. */
export function addMark(directory: string, mark: Mark): boolean {
  const session = readSession(directory);
  if (session === null) return false;
  writeSession(directory, { ...session, marks: [...(session.marks ?? []), mark] });
  return true;
}
