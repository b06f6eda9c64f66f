// Which trace directory is meant: by its path, or by a process that is recorded into it.
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { list } from '../processes/machine';
import { PREFIX, processesIn } from './traceDirectory';

/** A trace: a directory that is recorded into, or a saved file; `pid`: the process that was named. */
export interface NamedTrace {
  path: string;
  directory: string | null;
  pid: number | null;
}

/** The trace that `where` names, a PID or a path. The error is one sentence. */
export function findTrace(where: string, roots: readonly string[]): NamedTrace | { error: string } {
  if (/^[1-9]\d{0,9}$/.test(where) && !existsSync(where)) return traceOfProcess(Number(where), roots);
  const path = resolve(where);
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined)
    return { error: `${where} is neither the PID of a running process nor a trace that is there.` };
  return { path, directory: facts.isDirectory() ? path : null, pid: null };
}

function traceOfProcess(pid: number, roots: readonly string[]): NamedTrace | { error: string } {
  for (const root of roots) {
    for (const name of list(root).filter(entry => entry.startsWith(PREFIX))) {
      const path = join(root, name);
      if (processesIn(path).has(pid)) return { path, directory: path, pid };
    }
  }
  const known = existsSync(`/proc/${pid}`) ? 'is not traced (or by another user)' : 'does not run';
  return {
    error: `Process ${pid} ${known}: name a process that "gpu-memtrace run" or VS Code started under the tracer.`,
  };
}
