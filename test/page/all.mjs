// Every check of the page in Chromium, one process a file: node test/page/all.mjs [FILE …]
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { inRoot, run, say } from '../project/root.mjs';
import { ensureChromium } from '../project/chromium.mjs';

const FOLDER = 'test/page';
const MOST_AT_ONCE = 4;

/** The files that hold checks; the others draw pictures, or stand in for the host. */
const checkFiles = wanted =>
  readdirSync(inRoot(FOLDER))
    .filter(name => name.endsWith('.mjs') && /^const checks = /m.test(readFileSync(inRoot(FOLDER, name), 'utf8')))
    .filter(name => wanted.length === 0 || wanted.some(start => name.startsWith(start)))
    .sort();

/** Runs one file; a file that ends badly without naming a check counts as one failure. */
async function runFile(name) {
  const { code, output } = await run('node', [inRoot(FOLDER, name)], { quiet: true });
  const count = word => output.match(new RegExp(`^${word} `, 'gm'))?.length ?? 0;
  const [passed, counted] = [count('ok'), count('not ok')];
  const failed = code === 0 ? counted : Math.max(1, counted);
  say(`${failed > 0 ? 'FAILED' : 'ok    '} ${name}: ${passed} passed, ${failed} failed`);
  if (failed > 0) say(output.replace(/^ok .*\n/gm, ''));
  const notes = [...output.matchAll(/^not ok (.*)$/gm)].map(([, check]) => `failed: ${name}: ${check}`);
  return { passed, failed, notes: failed > notes.length ? [`failed: ${name} ended badly`] : notes };
}

/** Runs the files whose names begin with one of `wanted`, or all; {passed, failed, skipped, notes}. */
export async function runPageChecks(wanted = []) {
  const problem = await ensureChromium();
  if (problem) return { skipped: [`the page in Chromium: ${problem}`] };
  const left = checkFiles(wanted);
  const sum = { passed: 0, failed: 0, notes: [] };
  const worker = async () => {
    for (let name = left.shift(); name; name = left.shift()) {
      const { passed, failed, notes } = await runFile(name);
      sum.passed += passed;
      sum.failed += failed;
      sum.notes.push(...notes);
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, availableParallelism()) }, worker));
  return sum;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { passed = 0, failed = 0, skipped = [] } = await runPageChecks(process.argv.slice(2));
  console.log([`${passed} passed, ${failed} failed`, ...skipped].join(', skipped: '));
  process.exit(failed > 0 ? 1 : 0);
}
