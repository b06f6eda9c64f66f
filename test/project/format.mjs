// Checks or mends the format of every file that git tracks (or would add).
//   node test/project/format.mjs --write
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { inRoot, must, run, log } from './root.mjs';

const bin = name => inRoot('node_modules/.bin', name);
/** Digests of the C and C++ files that were found well formatted, one a line. */
const CLEAN = inRoot('build/format/clang-format');

/** Files of the checkout, the ignored ones left out. Without git (a source archive) there is nothing to list. */
async function files(pattern) {
  const output = await must('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate']);
  const deleted = new Set((await must('git', ['ls-files', '--deleted'])).split('\n'));
  return output
    .split('\n')
    .filter(name => pattern.test(name) && !deleted.has(name) && !/\.gen\.|vmlinux|^test\/golden\/.*\.json$/.test(name));
}

const scriptFiles = () => files(/(\.(ts|mjs|js|css|json)|^[^/]*\.md|\.html)$/);
const nativeFiles = () => files(/\.(c|h|cpp|hpp)$/);

export async function checkOxfmt() {
  const { code } = await run(bin('oxfmt'), ['--list-different', ...(await scriptFiles())]);
  return code === 0 ? { passed: 1 } : { failed: 1 };
}

/** Of a file's text, and of all else that its format depends on. */
function digests(files) {
  const rules = ['.clang-format', 'node_modules/clang-format/package.json'].map(name => readFileSync(inRoot(name)));
  return new Map(
    files.map(file => {
      const hash = createHash('sha256');
      for (const part of [...rules, file, readFileSync(inRoot(file))]) hash.update(part);
      return [file, hash.digest('hex')];
    }),
  );
}

/** Names the files only: what is wrong with them, `npm run format` mends. Files that were well formatted once are not read again. */
export async function checkClangFormat() {
  const all = digests(await nativeFiles());
  if (all.size === 0) return {};
  const clean = new Set(existsSync(CLEAN) ? readFileSync(CLEAN, 'utf8').split('\n') : []);
  const list = [...all.keys()].filter(file => !clean.has(all.get(file)));
  if (list.length === 0) return { passed: 1 };
  const { code, output } = await run(bin('clang-format'), ['--dry-run', '-Werror', ...list], { quiet: true });
  if (code === 0) {
    mkdirSync(inRoot('build/format'), { recursive: true });
    writeFileSync(CLEAN, [...all.values()].join('\n'));
    return { passed: 1 };
  }
  const wrong = new Set([...output.matchAll(/^([^:\s]+):\d+:\d+: error/gm)].map(([, file]) => file));
  log(wrong.size ? `Not formatted (npm run format mends it): ${[...wrong].join(' ')}` : output);
  return { failed: 1 };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await must(bin('oxfmt'), ['--write', ...(await scriptFiles())]);
  await must(bin('clang-format'), ['-i', ...(await nativeFiles())]);
}
