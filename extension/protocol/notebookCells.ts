// Cells of a notebook: which file of a trace stands for which, and when each ran.
import { CELL } from './notes';
import type { TraceInfo } from './trace';

/** One run of a cell. The same text has the same file, so runs of a cell are distinguished by their numbers. */
export type CellRun = ReturnType<typeof cellNotes>[number];

type CellSource = Pick<TraceInfo, 'processes' | 'startRealtimeMs'>;
/** `<begin ms> <end ms> <number> <file>`, as native/agent/cells.py has it; ends of 0: only the name is known. */
const CELL_NOTE = /^(\S+) (\S+) (\d+) (.+)$/;
const SHOWN = 4;
const numbers = new Map<string, readonly number[]>();

/** All runs that the program reported, in their order. */
export function cellRunsOf(info: CellSource) {
  return cellNotes(info).filter(({ endNs }) => endNs > 0);
}

/** Each with its number, 7 of `In [7]`, and its times in the session. */
function cellNotes({ processes, startRealtimeMs }: CellSource) {
  return processes.flatMap(({ notes }, process) =>
    notes.flatMap(({ code, text }) => {
      const [, begin, end, number, file] = (code === CELL && CELL_NOTE.exec(text)) || [];
      if (file === undefined) return [];
      const [beginNs = 0, endNs = 0] = [begin, end].map(ms => Math.max(0, (Number(ms) - startRealtimeMs) * 1e6));
      return [{ process, number: Number(number), file, beginNs, endNs }];
    }),
  );
}

/**
 * Until another trace is named, its cells are called by their numbers, wherever a file is named. Two kernels of one PID, on two
 * machines, give two cells one file: code that writes of a trace names it first.
 */
export function nameCells(info: CellSource): void {
  const found = new Map<string, Set<number>>();
  for (const { file, number } of cellNotes(info)) found.set(file, (found.get(file) ?? new Set()).add(number));
  for (const [file, all] of found)
    numbers.set(
      file,
      [...all].sort((a, b) => a - b),
    );
}

/** Numbers of the runs of a cell; empty: the file is no cell's. */
export function cellNumbers(file: string): readonly number[] {
  return numbers.get(file) ?? [];
}

/** `In [7]`, of one that ran again `In [7, 9, 12]`; null: the file is no cell's. */
export function cellName(file: string): string | null {
  const all = cellNumbers(file);
  const shown = all.length > SHOWN ? [...all.slice(0, 2), '…', all.at(-1)] : all;
  return all.length === 0 ? null : `In [${shown.join(', ')}]`;
}
