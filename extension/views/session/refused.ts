import { commandLine } from '../../capture/checks/attachTarget';
import type { Advice } from '../../capture/checks/privileges';
import { loadNative, type NativeAddon } from '../../engine/addon';

/** One sentence that a user can act on; `command`: with a line to type. */
export class Refused extends Error {
  constructor(
    sentence: string,
    readonly command: Advice['command'] = null,
  ) {
    super(sentence);
  }
}

/** Throws a sentence where the native part does not load. */
export function nativeAddon(dist: string): NativeAddon {
  const loaded = loadNative(dist);
  if ('error' in loaded) throw new Refused(loaded.error);
  return loaded.addon;
}

/** The command that attaches to a process, for root. */
export function sudoWords(dist: string, pid: number): string[] {
  return [...commandLine(dist), 'attach', String(pid)];
}
