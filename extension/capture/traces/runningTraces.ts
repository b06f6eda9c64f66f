// Which trace directory is meant: by its path, or by a process that is recorded into it.
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ownFolder, readText } from '../../files/files';
import { attempt } from '../../base/attempt';
import { list } from '../processes/machine';
import { PREFIX, processesIn } from './traceDirectory';

/** A trace: a directory that is recorded into, or a saved file; `pid`: the process that was named. */
export interface NamedTrace {
  path: string;
  directory: string | null;
  pid: number | null;
}

/** Processes that a refusal names, and letters of each command. */
const MOST_NAMED = 5;
const MOST_LETTERS = 60;

/** The trace that `where` names, a PID or a path. The error is one sentence. */
export function findTrace(where: string, roots: readonly string[]): NamedTrace | { error: string } {
  if (/^[1-9]\d{0,9}$/.test(where) && !existsSync(where)) return traceOfProcess(Number(where), roots);
  const path = resolve(where);
  const facts = attempt(() => statSync(path), undefined);
  if (facts === undefined) return { error: `${where} is neither the PID of a running process nor an existing trace.` };
  return { path, directory: facts.isDirectory() ? path : null, pid: null };
}

/** This user's own directories that are recorded into, or were until their launcher was killed. */
export function recordedFolders(roots: readonly string[]): string[] {
  return roots.flatMap(root =>
    (ownFolder(root) ? list(root) : [])
      .filter(entry => entry.startsWith(PREFIX))
      .map(name => join(root, name))
      .filter(ownFolder),
  );
}

function traceOfProcess(pid: number, roots: readonly string[]): NamedTrace | { error: string } {
  const paths = recordedFolders(roots);
  const path = paths.find(each => processesIn(each).has(pid));
  if (path !== undefined) return { path, directory: path, pid };
  const known = existsSync(`/proc/${pid}`) ? 'is not traced, or is traced by another user' : 'is not running';
  return { error: `Process ${pid} ${known}${tracedText(paths)}.` };
}

/** Those that are traced at this moment. */
function tracedText(paths: readonly string[]): string {
  const ids = paths.flatMap(path => [...processesIn(path)]).filter(pid => existsSync(`/proc/${pid}`));
  const named = ids.slice(0, MOST_NAMED).map(pid => `${pid} (${commandOf(pid)})`);
  if (ids.length === 0) return ': name a process that "gpu-memtrace run" or VS Code started with the tracer';
  const more = ids.length > named.length ? `, and ${ids.length - named.length} more` : '';
  return `; traced now: ${named.join(', ')}${more}`;
}

/** Empty where the process has just ended. */
function commandOf(pid: number): string {
  return readText(`/proc/${pid}/cmdline`).split('\0').join(' ').trim().slice(0, MOST_LETTERS);
}
