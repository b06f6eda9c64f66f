import { readSystemFile } from '../../files/files';
import { dirname, join } from 'node:path';
import type { CpuReason } from '../../text/cpuText';
import { findLibcuda, list, type Environment } from './machine';
import { cudaDrivers, mappedPrograms } from './processMaps';

/** A program loads PyTorch early or never: polls become rarer, each by this factor. */
const LATER = 1.2;
const FIRST_POLL_MS = 200;
const LAST_POLL_MS = 10_000;

/**
 * Why the PyTorch that a running process has loaded can use no GPU, by /proc and its files alone: the process is not queried.
 * Null: it has loaded none, it can, or the reason is unknown.
 */
export async function cpuReason(pid: number, proc = '/proc'): Promise<CpuReason | null> {
  const [maps, variables] = await Promise.all([read(join(proc, `${pid}/maps`)), read(join(proc, `${pid}/environ`))]);
  const torch = mappedPrograms(maps).find(path => path.endsWith('/libtorch_cpu.so'));
  if (torch === undefined || cudaDrivers(maps).length > 0) return null;
  const kinds = builtFor(dirname(torch));
  if (kinds?.length === 0) return 'build';
  if (kinds?.join() !== 'cuda') return null;
  return (await findLibcuda(environmentOf(variables))) === null ? 'driver' : null;
}

/** The kinds of GPU that the PyTorch in a folder was built for, as its libraries are named: `cuda`, `hip`, …; null: it is not there. */
export function builtFor(folder: string): string[] | null {
  const names = list(folder);
  if (!names.includes('libtorch_cpu.so')) return null;
  return names.flatMap(name => /^libc10_(\w+)\.so$/.exec(name)?.[1] ?? []);
}

/** Polls until it is known why a process runs on the CPU; `used`: it has used a GPU. What is returned ends that. */
export function watchForCpu(
  pid: () => number | null,
  used: () => boolean,
  found: (reason: CpuReason) => void,
): () => void {
  let over = false;
  let timer: NodeJS.Timeout;
  const poll = async (afterMs: number): Promise<void> => {
    const id = pid();
    const reason = id === null || used() ? null : await cpuReason(id);
    if (over || used()) return;
    if (reason === null) pollIn(Math.min(LATER * afterMs, LAST_POLL_MS));
    else found(reason);
  };
  const pollIn = (afterMs: number): void => {
    timer = setTimeout(() => void poll(afterMs), afterMs);
  };
  pollIn(FIRST_POLL_MS);
  return () => {
    over = true;
    clearTimeout(timer);
  };
}

function environmentOf(text: string): Environment {
  const entries = text.split('\0').map(each => each.split(/=(.*)/s, 2) as [string, string | undefined]);
  return Object.fromEntries(entries);
}

/** Empty where there is no such file, or it may not be read. */
function read(file: string): Promise<string> {
  return readSystemFile(file).catch(() => '');
}
