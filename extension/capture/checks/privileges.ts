// Why the tracer may not place probes here, and the exact line that allows it.
import { existsSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { joinWords } from '../launch/shellWords';
import { readText } from '../../files/files';

/** What decides whether a capability of the tracer's file counts. */
export type Surroundings = ReturnType<typeof readSurroundings>;

/** A sentence; `command`: the line to type, null if no line helps. */
export interface Advice {
  sentence: string;
  command: string | null;
}

/** What works all the same. */
export const WITHOUT = 'gpu-memtrace run still works';

/** Linux capabilities by number, linux/capability.h. */
const CAP_SYS_ADMIN = 21n;
const CAP_PERFMON = 38n;
const CAP_BPF = 39n;

/** From this kernel on CAP_BPF and CAP_PERFMON are enough (uprobe_multi); before it the tracer needs CAP_SYS_ADMIN. */
export function capabilitiesSuffice(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number);
  return major > 6 || (major === 6 && minor >= 6);
}

export function readSurroundings(program: string, proc = '/proc', kernel = release()) {
  const status = readText(join(proc, 'self/status'));
  const bounding = BigInt(`0x${/^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? 'ffffffffffffffff'}`);
  const has = (capability: bigint): boolean => ((bounding >> capability) & 1n) === 1n;
  return {
    /** As `uname -r` gives it. */
    kernel,
    root: process.getuid?.() === 0,
    /** Mount point above the tracer where the kernel ignores capabilities of files, null where it does not. */
    nosuidMount: nosuidMount(readText(join(proc, 'self/mountinfo')), program),
    /** no_new_privs is set: neither setcap nor sudo helps below this process. */
    noNewPrivileges: /^NoNewPrivs:\s*1$/m.test(status),
    container: inContainer(readText(join(proc, 'self/uid_map'))),
    /** The capabilities can be had at all: no container withholds them. */
    obtainable: capabilitiesSuffice(kernel) ? has(CAP_BPF) && has(CAP_PERFMON) : has(CAP_SYS_ADMIN),
  };
}

/** `sudoWords`: the command that does the same as root. */
export function privilegeAdvice(program: string, sudoWords: readonly string[], around: Surroundings): Advice {
  const { kernel, container, nosuidMount } = around;
  const needed = capabilitiesSuffice(kernel) ? ['BPF', 'PERFMON'] : ['SYS_ADMIN'];
  const names = needed.map(name => `CAP_${name}`).join(' and ');
  const them = needed.length === 1 ? 'this capability' : 'these capabilities';
  const lacks = `Attaching needs ${names}, which the tracer lacks (${WITHOUT})`;
  const sudo = (why: string): Advice => ({ sentence: `${lacks}. ${why}:`, command: sudoLine(sudoWords) });
  if ((around.root || !around.obtainable) && container) {
    const flags = needed.map(name => `--cap-add ${name}`).join(' ');
    const sentence = `${lacks}. This container does not grant ${them}: start the container with ${flags}, or attach from the host.`;
    return { sentence, command: null };
  }
  if (around.root || !around.obtainable) {
    return { sentence: `${lacks}. Lockdown or seccomp denies ${them} even to root.`, command: null };
  }
  if (around.noNewPrivileges)
    return sudo(
      'Programs started here gain no privileges (no_new_privs). In a shell outside this sandbox or container, run',
    );
  if (!capabilitiesSuffice(kernel)) return sudo(`Before Linux 6.6, attaching needs root (this is ${kernel}). Run`);
  if (nosuidMount !== null) return sudo(`${nosuidMount} is mounted nosuid, so its files cannot have capabilities. Run`);
  const setcap = `sudo setcap cap_bpf,cap_perfmon+ep ${joinWords([program])}`;
  return { sentence: `${lacks}. Run this once, or attach as root every time:`, command: setcap };
}

export function sudoLine(words: readonly string[]): string {
  return `sudo ${joinWords(words)}`;
}

/** The mount point that a path lies on when that is mounted nosuid, else null. Fields: proc(5), mountinfo. */
export function nosuidMount(mountinfo: string, path: string): string | null {
  let best: { point: string; nosuid: boolean } | null = null;
  for (const line of mountinfo.split('\n')) {
    const [, , , , escaped, options] = line.split(' ');
    if (escaped === undefined || options === undefined) continue;
    const point = escaped.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)));
    const holds = path === point || path.startsWith(point.endsWith('/') ? point : `${point}/`);
    // A later mount on the same point hides the earlier one.
    if (holds && point.length >= (best?.point.length ?? 0)) {
      best = { point, nosuid: options.split(',').includes('nosuid') };
    }
  }
  return best?.nosuid === true ? best.point : null;
}

/** The engines leave these files; else a user namespace of its own shows it. */
function inContainer(uidMap: string): boolean {
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) return true;
  return uidMap.trim() !== '' && !/^0\s+0\s+4294967295$/.test(uidMap.trim());
}
