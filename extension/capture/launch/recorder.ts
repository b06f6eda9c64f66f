// The recorder (native/recorder): keeps the trace of a directory within bounds, beside the job and as long as that lives.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ownFolder } from '../../files/files';

const FIRST_PAUSE_MS = 300;
const LAST_PAUSE_MS = 60_000;

/** How much of the disk the trace of a job may take, and of that the newest events, which stay in full. */
export interface SpaceLimits {
  budgetBytes: number;
  detailBytes: number;
}

/** Where the recorder copies the trace to, and how often. */
export interface Copies {
  file: string;
  seconds: number;
}

/** The user's own (GPU_MEMTRACE_BUDGET stands for a budget too), else 2 GB or half of what is free, of memory a quarter. */
export function spaceLimits(
  requested: { [limit in keyof SpaceLimits]: number | null },
  environment: Record<string, string | undefined>,
  { freeBytes, inMemory }: { freeBytes: number; inMemory: boolean },
): SpaceLimits {
  const set = Number(environment.GPU_MEMTRACE_BUDGET);
  const own = requested.budgetBytes ?? (Number.isSafeInteger(set) && set > 0 ? set : null);
  const budgetBytes = own ?? Math.min(2 * 1024 ** 3, freeBytes / (inMemory ? 4 : 2));
  return { budgetBytes, detailBytes: requested.detailBytes ?? Math.min(512 * 1024 ** 2, budgetBytes / 4) };
}

/** A recorder that is started again where it is killed or cannot work yet. It continues when this process ends, with the job. */
export class KeptRecorder {
  private child: ChildProcess | null = null;
  private stopped = false;
  private pauseMs = FIRST_PAUSE_MS;

  constructor(
    private readonly dist: string,
    private readonly directory: string,
    private readonly limits: SpaceLimits | null,
    private readonly copies?: Copies,
  ) {
    this.start();
  }

  /** It does no more. For before the trace is saved or deleted. One that stands still would hold up the save: nothing is lost with it. */
  stop(): void {
    this.stopped = true;
    this.child?.kill('SIGKILL');
  }

  private start(): void {
    if (this.stopped || !existsSync(this.directory)) return;
    this.child = startRecorder(this.dist, this.directory, this.limits, this.copies);
    this.child?.once('exit', status => {
      if (status === 0) return; // the job is over, or another one is there
      setTimeout(() => this.start(), this.pauseMs).unref();
      this.pauseMs = Math.min(this.pauseMs * 2, LAST_PAUSE_MS);
    });
  }
}

/**
 * Starts one where the trace had one: whoever started that may be gone. Nothing happens where it still is there. It folds what lies in the
 * directory, and only in this user's own one in a place where such are made (`roots`): what is opened elsewhere is only read.
 */
export function wakeRecorder(dist: string, directory: string, roots: readonly string[]): void {
  const path = resolve(directory);
  if (roots.includes(dirname(path)) && [dirname(path), path].every(ownFolder) && existsSync(join(path, 'recorder')))
    startRecorder(dist, path, null);
}

/** `limits` null: those of the one that was there before. Null: there is no such program, and logs have their own limits. */
function startRecorder(
  dist: string,
  directory: string,
  limits: SpaceLimits | null,
  copies?: Copies,
): ChildProcess | null {
  const program = join(dist, 'native', 'gpu-memtrace-recorder');
  if (!existsSync(program)) return null;
  const words = [directory];
  if (limits !== null)
    words.push('--detail', String(Math.floor(limits.detailBytes)), '--budget', String(Math.floor(limits.budgetBytes)));
  if (copies !== undefined) words.push('--copy', copies.file, '--every', String(copies.seconds));
  // A session of its own: Ctrl+C in the terminal is for the job. Nothing of the job's is preloaded.
  const child = spawn(program, words, { stdio: 'ignore', detached: true, cwd: '/' });
  child.on('error', () => undefined); // without it the logs' own limits hold
  child.unref();
  return child;
}
