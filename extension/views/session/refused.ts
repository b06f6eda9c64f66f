import { commandLine } from '../../capture/checks/attachTarget';
import type { Advice } from '../../capture/checks/privileges';

/** One sentence that a user can act on; `command`: with a line to type. */
export class Refused extends Error {
  constructor(
    sentence: string,
    readonly command: Advice['command'] = null,
  ) {
    super(sentence);
  }
}

/** The command that attaches to a process, for root. */
export function sudoWords(dist: string, pid: number): string[] {
  return [...commandLine(dist), 'attach', String(pid)];
}
