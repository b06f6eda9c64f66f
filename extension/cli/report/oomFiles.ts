import { dirname, join, resolve } from 'node:path';
import { oomDocument } from '../../analysis/report/oomReport';
import { keptTracesFolder, makeFolder } from '../../capture/traces/folders';
import { textOf } from '../../protocol/inert';
import type { TraceSource } from '../../protocol/trace';
import type { Verdicts } from '../../protocol/verdicts';
import { writeResult } from './resultFile';

/**
 * Writes beside the trace, `output` or a kept one, what is to be said of the newest failure of each process that ran out of memory. Gives
 * the files by process.
 */
export function writeOomFiles(source: TraceSource, verdicts: Verdicts, output: string | null): Map<number, string> {
  const { processes, outOfMemory } = source.info();
  const newest = new Map(verdicts.outOfMemory.map(verdict => [outOfMemory[verdict.index]?.process ?? 0, verdict]));
  const files = new Map<number, string>();
  const folder = output === null ? keptTracesFolder(globalThis.process.env) : dirname(resolve(output));
  for (const [process, verdict] of newest) {
    try {
      makeFolder(folder);
    } catch {
      // That it cannot be written there is said.
    }
    const file = join(folder, `oom-${processes[process]?.pid ?? 0}.md`);
    if (writeResult([textOf(oomDocument(source, verdict))], file)) files.set(process, file);
  }
  return files;
}
