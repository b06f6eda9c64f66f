// Every check of the page in Chromium, two files at once in one browser: node test/page/all.mjs [FILE …]
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inRoot, log } from '../project/root.mjs';
import { ensureChromium } from '../project/chromium.mjs';
import { openBrowser } from './page.mjs';

const FOLDER = 'test/page';
const AT_ONCE = 2;
/** No page of a check lives long enough to be worth optimizing. */
const COMPILE_LITTLE = '--js-flags=--max-lazy --no-opt';

/** The files that hold checks; the others draw pictures, or stand in for the host. */
const checkFiles = chosen =>
  readdirSync(inRoot(FOLDER))
    .filter(
      name => name.endsWith('.mjs') && /^export const result = /m.test(readFileSync(inRoot(FOLDER, name), 'utf8')),
    )
    .filter(name => chosen.length === 0 || chosen.some(start => name.startsWith(start)))
    .sort();

/** Runs one file; one that ends badly without naming a check counts as one failure. */
async function runFile(name) {
  const { passed, failed } = await import(`./${name}`).then(
    ({ result }) => result,
    error => ({ passed: 0, failed: new Map([['ended badly', error.stack]]) }),
  );
  log(`${failed.size > 0 ? 'FAILED' : 'ok    '} ${name}: ${passed} passed, ${failed.size} failed`);
  for (const [check, why] of failed) log(`not ok  ${check}\n${why}`);
  return { passed, failed: failed.size, notes: [...failed.keys()].map(check => `failed: ${name}: ${check}`) };
}

/** Runs the files whose names begin with one of `chosen`, or all; {passed, failed, skipped, notes}. */
export async function runPageChecks(chosen = []) {
  const problem = await ensureChromium();
  if (problem) return { skipped: [`the page in Chromium: ${problem}`] };
  const browser = await openBrowser(COMPILE_LITTLE);
  const left = checkFiles(chosen);
  const sum = { passed: 0, failed: 0, notes: [] };
  const worker = async () => {
    for (let name = left.shift(); name; name = left.shift()) {
      const { passed, failed, notes } = await runFile(name);
      sum.passed += passed;
      sum.failed += failed;
      sum.notes.push(...notes);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await browser.close();
  return sum;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { passed = 0, failed = 0, skipped = [] } = await runPageChecks(process.argv.slice(2));
  console.log([`${passed} passed, ${failed} failed`, ...skipped].join(', skipped: '));
  process.exit(failed > 0 ? 1 : 0);
}
