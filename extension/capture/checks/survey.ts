import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How long a survey may stop the program, and how many blocks it looks up. */
const BUDGET_MS = 500;
const SAMPLE = 200;

/**
 * Asks the processes that will record into this trace directory to say who holds their tensors: when they end and, with
 * `steps`, at steps 16, 32, 64 and so on while memory grows (what a function's locals hold is gone at the end). To be
 * written before the program starts.
 */
export function askForSurvey(directory: string, steps: boolean): void {
  const request = { budgetMs: BUDGET_MS, sample: SAMPLE, steps };
  writeFileSync(join(directory, 'at-exit.json'), JSON.stringify(request), { mode: 0o600 });
}
