import { commandLine } from '../../capture/checks/attachTarget';
import type { Advice } from '../../capture/checks/privileges';

/** One sentence that a user can act on. */
export class Refused extends Error {}

/** A sentence with a line to type. */
export class RefusedWithCommand extends Refused {
  constructor(
    sentence: string,
    readonly command: string,
  ) {
    super(sentence);
  }
}

/** The refusal as an error, with the line to type where there is one. */
export function refusal({ sentence, command }: Advice): Refused {
  return command === null ? new Refused(sentence) : new RefusedWithCommand(sentence, command);
}

/** The command that attaches to a process, for root. */
export function sudoWords(dist: string, pid: number): string[] {
  return [...commandLine(dist), 'attach', String(pid)];
}
