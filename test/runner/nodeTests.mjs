// Runs bundled node:test files and counts what they report.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { inRoot, run } from '../project/root.mjs';

const LEFT_BY_NAME = /^test name does not match pattern$/i;
const quoted = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Files that load so many of these each: a process for each of them costs more than most of their tests. */
export function together(kind, files, count) {
  return Array.from({ length: Math.min(count, files.length) }, (_, group) => {
    const path = inRoot('build/test-results', `${kind}-${group}.cjs`);
    const own = files.filter((_file, i) => i % count === group);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, own.map(file => `require(${JSON.stringify(file)});\n`).join(''));
    return path;
  });
}

/**
 * `kind` names the result file; `concurrency` is how many files run at once, each for `mostSeconds`. `names`: only tests whose
 * names hold one of these texts; `except`: none whose names begin with one. `program`: the Node that runs them. Resolves with {passed, failed, skipped, notes}.
 */
export async function runNodeTests(
  kind,
  files,
  { concurrency = 1, mostSeconds = 600, names = [], except = [], env = {}, program = process.execPath } = {},
) {
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
    ...names.map(name => `--test-name-pattern=${quoted(name)}`),
    ...except.map(name => `--test-skip-pattern=/^${quoted(name)}/`),
  ];
  const { code } = await run(program, [...flags, ...files], { env });
  return counted(readFileSync(tap, 'utf8'), code);
}

function counted(text, code) {
  const count = name => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  const skipped = [...text.matchAll(/^\s*ok \d+ - (.*?) # (?:SKIP|TODO) ?(.*)$/gm)]
    .filter(([, , why]) => !LEFT_BY_NAME.test(why))
    .map(([, name, why]) => (why ? `${name}: ${why}` : name));
  const failed = count('fail') + count('cancelled');
  const notes = [...text.matchAll(/^\s*not ok \d+ - (.*)$/gm)].map(([, name]) => `failed: ${name}`);
  return { passed: count('pass'), failed: failed || code === 0 ? failed : 1, skipped, notes };
}
