// Running processes, from /proc.
import { readdirSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readBytes, readSystemFile } from '../../files/files';
import { attempt } from '../../base/attempt';
import { onPath, output, type Environment } from './machine';
import { cudaDrivers } from './processMaps';

export type ProcessFacts = NonNullable<Awaited<ReturnType<typeof readProcess>>>;

export interface CudaProcesses {
  /** Those that loaded the CUDA driver. */
  found: ProcessFacts[];
  /** Programs that may not be inspected, most often because they belong to other users. */
  hidden: ProcessFacts[];
}

const AT_ONCE = 16;

/** Facts of one process, null when there is none. */
export async function readProcess(pid: number, proc = '/proc') {
  const folder = join(proc, String(pid));
  const [status, words] = await Promise.all([readText(join(folder, 'status')), readText(join(folder, 'cmdline'))]);
  if (status === null) return null;
  const field = (name: string): string => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';
  const uid = Number(field('Uid').split(/\s+/)[1] ?? NaN);
  const command = (words ?? '').split('\0').slice(0, -1);
  const maps = await readText(join(folder, 'maps'));
  return {
    pid,
    parentPid: Number(field('PPid')),
    uid,
    /** Name of the user, else the number. */
    user: userName(uid),
    /** Arguments; the program's short name where there are none. */
    command: command.length > 0 ? command : [field('Name')],
    /** False for a thread of the kernel. */
    program: command.length > 0,
    /** It is gone: only its parent has not read its status yet. */
    ended: /^[ZX]/.test(field('State')),
    /** Process that it is a thread of, else its own number. */
    owner: Number(field('Tgid')) || pid,
    /** Paths of the CUDA driver that it has loaded; null: it may not be inspected. */
    drivers: maps === null ? null : cudaDrivers(maps),
  };
}

/** Looks at all processes; the kernel's own threads, which run no program, are left out. */
export async function listCudaProcesses(proc = '/proc'): Promise<CudaProcesses> {
  const ids = readdirSync(proc)
    .filter(name => /^\d+$/.test(name))
    .map(Number);
  const result: CudaProcesses = { found: [], hidden: [] };
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const facts = await Promise.all(ids.slice(from, from + AT_ONCE).map(pid => readProcess(pid, proc)));
    for (const process of facts) {
      if (process === null || process.ended) continue;
      if (process.drivers === null && process.program) result.hidden.push(process);
      else if (process.drivers !== null && process.drivers.length > 0) result.found.push(process);
    }
  }
  return result;
}

/** A process that can be offered for attaching. */
export interface Candidate {
  process: ProcessFacts;
  /** It belongs to the current user. */
  own: boolean;
  /** From the driver; null where it does not report it. */
  gpuBytes: number | null;
}

/**
 * The processes that use CUDA: one's own first, then by GPU memory. Those of other users that may not be inspected are
 * among them where the driver names them.
 */
export async function attachCandidates(
  environment: Environment,
  proc = '/proc',
  uid = process.getuid?.() ?? 0,
): Promise<Candidate[]> {
  const [{ found, hidden }, bytes] = await Promise.all([listCudaProcesses(proc), gpuBytesByProcess(environment)]);
  return [...found, ...hidden.filter(({ pid }) => bytes.has(pid))]
    .map(process => ({
      process,
      own: process.uid === uid,
      gpuBytes: bytes.get(process.pid)?.reduce((total, figure) => total + figure) ?? null,
    }))
    .sort(
      (a, b) => Number(b.own) - Number(a.own) || (b.gpuBytes ?? 0) - (a.gpuBytes ?? 0) || a.process.pid - b.process.pid,
    );
}

/**
 * Lets the stopped descendants of a process continue. A tracer that was killed in between has left one so that waits for its
 * probes.
 */
export async function continueDescendants(ancestor: number, proc = '/proc'): Promise<void> {
  const parents = new Map<number, number>();
  const stopped: number[] = [];
  for (const name of readdirSync(proc).filter(entry => /^\d+$/.test(entry))) {
    const status = await readText(join(proc, name, 'status'));
    if (status === null) continue;
    parents.set(Number(name), Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1] ?? 0));
    if (/^State:\s*T /m.test(status)) stopped.push(Number(name));
  }
  const descends = (pid: number): boolean => pid === ancestor || (pid > 1 && descends(parents.get(pid) ?? 0));
  for (const pid of stopped.filter(pid => pid !== ancestor && descends(pid))) {
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It ended in between, or runs as another user.
    }
  }
}

/** Folder that a process works in, '/' when it may not be known. */
export function workingFolder(pid: number, proc = '/proc'): Promise<string> {
  return readlink(join(proc, String(pid), 'cwd')).catch(() => '/');
}

/** GPU memory of one process as the driver counts it, in bytes, a figure for each of its GPUs; empty where nvidia-smi has none. */
export async function gpuBytesOf(pid: number, environment: Environment): Promise<number[]> {
  return (await gpuBytesByProcess(environment)).get(pid) ?? [];
}

async function gpuBytesByProcess(environment: Environment): Promise<Map<number, number[]>> {
  const program = onPath('nvidia-smi', environment);
  if (program === null) return new Map();
  const query = ['--query-compute-apps=pid,used_memory', '--format=csv,noheader,nounits'];
  return parseComputeApps((await output(program, query)) ?? '');
}

/** Lines `PID, MiB`; a process has one for each of its GPUs. What is no number, as `[N/A]`, is left out. */
export function parseComputeApps(listing: string): Map<number, number[]> {
  const bytes = new Map<number, number[]>();
  for (const line of listing.split('\n')) {
    const match = /^\s*(\d+)\s*,\s*(\d+)\s*$/.exec(line);
    if (match === null) continue;
    const pid = Number(match[1]);
    bytes.set(pid, [...(bytes.get(pid) ?? []), Number(match[2]) * 1024 ** 2]);
  }
  return bytes;
}

/** Null where the file is not there or may not be read. */
function readText(file: string): Promise<string | null> {
  return readSystemFile(file).catch(() => null);
}

let users: Map<number, string> | undefined;

function userName(uid: number): string {
  users ??= readUsers();
  return users.get(uid) ?? String(uid);
}

function readUsers(): Map<number, string> {
  const names = new Map<number, string>();
  // Where it cannot be read, numbers stand for names.
  for (const line of attempt(() => readBytes('/etc/passwd').toString('utf8'), '').split('\n')) {
    const [name, , uid] = line.split(':');
    if (name !== undefined && uid !== undefined && !names.has(Number(uid))) names.set(Number(uid), name);
  }
  return names;
}
