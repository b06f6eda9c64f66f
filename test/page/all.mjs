// Every check of the page in Chromium, one process a file: node test/page/all.mjs
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { inRoot, run } from '../project/root.mjs';
import { ensurePrograms } from '../project/systemPackages.mjs';

const FOLDER = 'test/page';
const MOST_AT_ONCE = 4;

/** The files that hold checks; the others measure, or draw pictures. */
const checkFiles = () =>
  readdirSync(inRoot(FOLDER))
    .filter(name => name.endsWith('.mjs') && /^const checks = /m.test(readFileSync(inRoot(FOLDER, name), 'utf8')))
    .sort();

/** Runs one file; a file that ends badly without naming a check counts as one failure. */
async function runFile(name) {
  const { code, output } = await run('node', [inRoot(FOLDER, name)], { quiet: true });
  const count = word => output.match(new RegExp(`^${word} `, 'gm'))?.length ?? 0;
  const [passed, counted] = [count('ok'), count('not ok')];
  const failed = code === 0 ? counted : Math.max(1, counted);
  console.log(`${failed > 0 ? 'FAILED' : 'ok    '} ${name}: ${passed} passed, ${failed} failed`);
  if (failed > 0) console.log(output.replace(/^ok .*\n/gm, ''));
  const notes = [...output.matchAll(/^not ok (.*)$/gm)].map(([, check]) => `${name}: ${check}`);
  return { passed, failed, notes: failed > notes.length ? [`${name} ended badly`] : notes };
}

/** Runs all; {passed, failed, skipped, notes}. A file that fails gets a second try, alone; the notes name it. */
export async function runPageChecks() {
  const problem = process.env.CHROMIUM ? null : await ensurePrograms(['chromium'], ['chromium', 'fonts-dejavu-core']);
  if (problem) return { skipped: [`the page in Chromium: ${problem}`] };
  const left = checkFiles();
  const again = [];
  const sum = { passed: 0, failed: 0, notes: [] };
  const add = ({ passed, failed, notes }, what) => {
    sum.passed += passed;
    sum.failed += failed;
    sum.notes.push(...notes.map(note => `${what}: ${note}`));
  };
  const worker = async () => {
    for (let name = left.shift(); name; name = left.shift()) {
      const result = await runFile(name);
      if (result.failed > 0) again.push({ name, result });
      else add(result);
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, availableParallelism()) }, worker));
  for (const { name, result } of again) {
    add({ passed: 0, failed: 0, notes: result.notes }, 'tried again');
    add(await runFile(name), 'failed');
  }
  return sum;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { passed = 0, failed = 0, skipped = [] } = await runPageChecks();
  console.log([`${passed} passed, ${failed} failed`, ...skipped].join(', skipped: '));
  process.exit(failed > 0 ? 1 : 0);
}
