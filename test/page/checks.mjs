// Runs named checks of the page, and reports how each ended.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { keptSentences } from '../keptSentences.mjs';

const PROBE_MS = 50;
const PATIENCE_MS = 30_000;

/** Runs again until the check throws nothing: the machine may be slow, so nothing waits for a time. */
export async function eventually(check) {
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(PROBE_MS)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** Sentences of the checks in the file at `url`, for runChecks. */
export const sentencesOf = url => keptSentences(fileURLToPath(url), (_name, run) => run);

/** One of the checks; `inLong(check)(…)` is one of the long run. */
export const check = run => run;

/**
 * Runs the checks, one after another; a page beside them must report no error and break no security policy, and is closed.
 * `shown`: {page, errors, context} of openPage. `sentences`: of sentencesOf. Resolves with how many passed, and the texts of what
 * failed by name.
 */
export async function runChecks(checks, shown = null, sentences = null) {
  const withSentences = ([name, run]) => [name, sentences?.test(name, run) ?? run];
  for (const name of Object.keys(checks)) sentences?.test.left(name);
  const all = Object.entries(checks)
    .filter(([, run]) => run !== undefined)
    .map(withSentences);
  if (shown) all.push(['nothing else went wrong', () => nothingWrong(shown)]);
  const failed = new Map();
  for (const [name, run] of all) {
    try {
      await run();
    } catch (error) {
      const where = error.stack.split('\n').find(line => /^\s+at .*\.mjs:/.test(line) && !/checks\.mjs/.test(line));
      failed.set(name, `${error.message}\n${where ?? ''}`);
    }
  }
  await shown?.context.close();
  return { passed: all.length - failed.size, failed };
}

async function nothingWrong({ page, errors }) {
  const wrong = [...errors, ...(await page.evaluate(() => window.bench.violations))];
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}
