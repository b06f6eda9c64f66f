// Runs bundled node:test files and counts what they report.
import { readFileSync, rmSync } from 'node:fs';
import { inRoot, run } from '../project/root.mjs';

/** `kind` names the result file; `concurrency` is how many files run at once, each for `mostSeconds`. */
export async function runNodeTests(kind, files, concurrency, mostSeconds = 120) {
  const tap = inRoot('build/test-results', `${kind}.tap`);
  rmSync(tap, { force: true });
  const flags = [
    '--enable-source-maps',
    '--test',
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${mostSeconds * 1000}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=tap',
    `--test-reporter-destination=${tap}`,
  ];
  const { code } = await run(process.execPath, [...flags, ...files]);
  const text = readFileSync(tap, 'utf8');
  const count = name => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  const skipped = [...text.matchAll(/^\s*ok \d+ - (.*?) # (?:SKIP|TODO) ?(.*)$/gm)].map(([, name, why]) =>
    why ? `${name}: ${why}` : name,
  );
  const failed = count('fail') + count('cancelled');
  const notes = [...text.matchAll(/^\s*not ok \d+ - (.*)$/gm)].map(([, name]) => `failed: ${name}`);
  return { passed: count('pass'), failed: failed || code === 0 ? failed : 1, skipped, notes };
}
