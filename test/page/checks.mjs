// Runs named checks of the page and tells how each ended, in lines that all.mjs counts.
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 50;
const PATIENCE_MS = 30_000;

/** Looks again until the check throws nothing: the machine may be slow, so nothing waits for a time. */
export async function eventually(check) {
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(LOOK_MS)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/**
 * Runs the checks, one after another; a page beside them must report no error and break no security policy.
 * `shown`: {page, errors} of openPage. Resolves with the number of failures.
 */
export async function runChecks(checks, shown = null) {
  const all = Object.entries(checks);
  if (shown) all.push(['nothing else went wrong', () => nothingWrong(shown)]);
  let failed = 0;
  for (const [name, check] of all) {
    const began = Date.now();
    try {
      await check();
      console.log(`ok      ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed++;
      const where = error.stack.split('\n').find(line => /^\s+at .*\.mjs:/.test(line) && !/checks\.mjs/.test(line));
      console.log(`not ok  ${name}\n${error.message}\n${where ?? ''}`);
    }
  }
  return failed;
}

async function nothingWrong({ page, errors }) {
  const wrong = [...errors, ...(await page.evaluate(() => window.bench.violations))];
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}

/** Closes the browser and ends the process: 0 where nothing failed. */
export async function finish(browser, failed) {
  await browser.close();
  process.exit(failed > 0 ? 1 : 0);
}
