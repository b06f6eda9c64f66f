import { join } from 'node:path';
import { writeWhole } from '../../files/files';

/** How long a survey may stop the program, and how many blocks it looks up. */
const BUDGET_MS = 500;
const SAMPLE = 200;

/**
 * When a program is stopped to find what holds memory: once for each leak when that is certain, or at steps 16, 32, 64 and so on
 * while memory grows (what a function's locals hold is gone at the end); and at its end. `never`: only on request.
 */
export const HOLDER_TIMES = ['onFirstLeak', 'atSteps', 'never'] as const;
export type HolderTime = (typeof HOLDER_TIMES)[number];

/**
 * Requests of the processes that will record into this trace directory the holders of their tensors, at their end and perhaps at steps.
 * To be written before the program starts.
 */
export function requestSurvey(directory: string, time: HolderTime): void {
  if (time === 'never') return;
  const request = { budgetMs: BUDGET_MS, sample: SAMPLE, steps: time === 'atSteps' };
  writeWhole(join(directory, 'at-exit.json'), [JSON.stringify(request)], { mode: 0o600, ofTrace: true });
}
