// Checks or mends the format of every file that git knows (or would add).
//   node test/project/format.mjs --write
import { pathToFileURL } from 'node:url';
import { inRoot, must, run, say } from './root.mjs';

const bin = name => inRoot('node_modules/.bin', name);

/** Files of the checkout, the ignored ones left out. Without git (a source archive) there is nothing to list. */
async function files(pattern) {
  const output = await must('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate']);
  const deleted = new Set((await must('git', ['ls-files', '--deleted'])).split('\n'));
  return output
    .split('\n')
    .filter(name => pattern.test(name) && !deleted.has(name) && !/\.gen\.|vmlinux|^test\/golden\/.*\.json$/.test(name));
}

const prettierFiles = () => files(/(\.(ts|mjs|js|css|json)|^[^/]*\.md|\.html)$/);
const nativeFiles = () => files(/\.(c|h|cpp|hpp)$/);

export async function checkPrettier() {
  const { code } = await run(bin('prettier'), ['--check', '--log-level=warn', ...(await prettierFiles())]);
  return code === 0 ? { passed: 1 } : { failed: 1 };
}

/** Names the files only: what is wrong with them, `npm run format` mends. */
export async function checkClangFormat() {
  const list = await nativeFiles();
  if (list.length === 0) return {};
  const { code, output } = await run(bin('clang-format'), ['--dry-run', '-Werror', ...list], { quiet: true });
  if (code === 0) return { passed: 1 };
  const wrong = new Set([...output.matchAll(/^([^:\s]+):\d+:\d+: error/gm)].map(([, file]) => file));
  say(wrong.size ? `Not formatted (npm run format mends it): ${[...wrong].join(' ')}` : output);
  return { failed: 1 };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await must(bin('prettier'), ['--write', '--log-level=warn', ...(await prettierFiles())]);
  await must(bin('clang-format'), ['-i', ...(await nativeFiles())]);
}
