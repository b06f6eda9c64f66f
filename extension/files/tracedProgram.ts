// Which program a trace is of, by the launcher's facts in it.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SourceFolders } from '../protocol/cwd';
import type { TraceFacts } from '../protocol/requests/engineRequests';
import { sourcePath } from './sourcePath';

type Traced = { facts: TraceFacts | null; folders: SourceFolders };

function commandOf({ facts }: Traced): string[] {
  const command = facts?.info.session.command;
  return Array.isArray(command) ? command.map(String) : [];
}

/** Path of the script that ran, on this machine; null: it was a module, or no Python. */
export function scriptOf(traced: Traced): string | null {
  const script = commandOf(traced).find(word => word.endsWith('.py'));
  return script === undefined ? null : sourcePath(script, traced.folders);
}

/** A word of a command line with a secret that was not recorded. */
const MASKED = '***';

/** How the program of a trace was started, as the trace has it; null: not all of it is known, or is there. */
export function startOf(traced: Traced): { command: string[]; cwd: string } | null {
  const [command, { cwd }] = [commandOf(traced), traced.folders];
  const [name = '', ...words] = command;
  const program = name.includes('/') ? resolve(cwd, name) : name; // without, it is searched for
  const isThere = existsSync(cwd) && name !== '' && (!name.includes('/') || existsSync(program));
  const isWhole = traced.facts?.info.session.attached === undefined && !command.some(word => word.includes(MASKED));
  return isThere && isWhole ? { command: [program, ...words], cwd } : null;
}

/** Equal for the runs of one program, with whatever arguments where it is a script; null: it is not known. */
export function programOf(traced: Traced): string | null {
  const [, ...words] = commandOf(traced);
  return scriptOf(traced) ?? (words.length === 0 ? null : [traced.folders.cwd, ...words].join('\0'));
}

/** When a run was started, in milliseconds of real time; 0: not known. */
export function startedMs({ facts }: Pick<Traced, 'facts'>): number {
  return Number(facts?.info.session.startedRealtimeMs ?? 0);
}

/**
 * Since when the program read its source files, in milliseconds of real time; 0: not known. A trace begins later, with the first
 * use of a GPU, and its file may be edited in between.
 */
export function readSinceMs(traced: Pick<Traced, 'facts'>): number {
  return startedMs(traced) || (traced.facts?.info.startRealtimeMs ?? 0);
}

/** Orders runs by when they were started, the latest last. */
export const byStart = (a: Traced, b: Traced): number => startedMs(a) - startedMs(b);

/** Of several runs of one program the latest counts: what an earlier one leaked may be mended. */
export function latestRuns<T extends Traced & { id: number }>(all: readonly T[]): T[] {
  return [...new Map(all.toSorted(byStart).map(run => [programOf(run) ?? run.id, run])).values()];
}

interface Warning extends Traced {
  id: number;
  /** Where it is or was recorded; null: it is a file that was opened, which can be opened again. */
  recordedIn: string | null;
  warns: boolean;
}

/** It has a warning that would vanish with it: no newer run of its program is there to replace it. */
export function isUnread<T extends Warning>(run: T, all: readonly T[]): boolean {
  return run.recordedIn !== null && run.warns && latestRuns(all).includes(run);
}

interface Run extends Traced {
  hasAllocations: boolean;
  running: boolean;
  crashed: boolean;
  stopped: boolean;
  /** A leak or a failed allocation was found. */
  warns: boolean;
}

/** The newest earlier run of the same program that ended well; one that failed or was stopped only where it shows a leak, or ran out of memory. */
export function runBefore<T extends Run>(run: Traced, all: readonly T[]): T | null {
  const program = programOf(run);
  const isBaseline = (one: T): boolean =>
    one.hasAllocations && !one.running && (one.warns || !(one.crashed || one.stopped));
  const isEarlier = (one: T): boolean => startedMs(one) < startedMs(run) && programOf(one) === program;
  if (program === null) return null;
  return (
    all
      .filter(one => isBaseline(one) && isEarlier(one))
      .sort(byStart)
      .at(-1) ?? null
  );
}

/** The newest run of the same program that has allocations, where this is an older one; else null. */
export function newerRun<T extends Run>(run: Traced, all: readonly T[]): T | null {
  const program = programOf(run);
  const isNewer = (one: T): boolean =>
    one.hasAllocations && startedMs(one) > startedMs(run) && programOf(one) === program;
  return program === null ? null : (all.filter(isNewer).sort(byStart).at(-1) ?? null);
}
