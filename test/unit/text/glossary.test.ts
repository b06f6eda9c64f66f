// Texts for people use the words of extension/text/GLOSSARY.md: forms that they replace are in none.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import * as ts from 'typescript';

const root = resolve(__dirname, '../../../..');

/** What must not be in a text, and what to write instead. */
const BANNED: [form: RegExp, instead: string][] = [
  [/(\d|\{\d\}|\}) %/, '99%, without a space'],
  [/(\d|\{\d\}) [KMGT]B\b/, 'KiB, MiB, GiB, TiB'],
  [/\b(\{\d\}|tensors?|blocks?|bytes) (a|of each|in each) step\b/, 'per step'],
  [/\b(of|with|in) each step\b/, 'per step, or every step'],
  [/\b(is|are|was|were) (told|asked|said)\b/, 'a verb for things: shown, queried, reported'],
  [/\b(nobody|somebody|who (holds|keeps|held|owns))\b/i, 'what holds, holder'],
  [/\bevery (\d+|\{\d\})(th|st|nd|rd)? step\b/, 'about every {0} steps, about 1 in {0} steps'],
  [/^Whether\b|\bUNKNOWN:/, 'too short to judge whether, NOT JUDGED'],
  [/\b(goes|went|go) on\b/, 'continues, keeps running'],
  [/\b(gives|give|given) back\b/, 'frees, releases'],
  [/.\bone-shot\b|\bone-shot\b./, 'persistent'],
  [/TAKEN BACK|\btaken back\b/, 'retracted'],
  [/\bLOST\b|\bevents? (was|were) lost\b|\blost events?\b/, 'dropped events'],
  [/\brounds of a loop\b/, 'loop iterations'],
  [/\bslices? of time\b/, 'time slice'],
  [/\bit takes \S+ more\b|\b(few|enough|little) to tell\b|\bcannot tell\b/, 'to judge'],
  [/\bmemory snapshots? of PyTorch\b/, 'PyTorch memory snapshot'],
  [/\bfolder of a job\b/, 'job folder'],
  [/\branges of NVTX\b/, 'NVTX ranges'],
  [/\b(is|are) (no|none) (folder|size|leak|address|number|time|program)\b/, 'is not a'],
  [/\bPython’s collector\b|\bthe collector\b/, 'the garbage collector'],
  [/\bnot (kept|held|known) any ?more\b/, 'no longer'],
  [/\b[Ww]here (that|it|there) is(n’t| not| no)?\b/, 'if'],
  [/\bin (every|each) (step|\{0\})$|\bgrows? in (every|each)\b/, 'grows every step'],
  [/(^|\()before (the )?recording\b/, 'allocated before recording'],
  [/\bthe device will be full\b/, 'the GPU will be full'],
  [/\bthe question\b(?! mark)/i, 'the query'],
  [/\b(has|have) no mark\b/, 'marker'],
  [/\brounds\b|\bround of\b/, 'loop iterations'],
  [/\bbeside\b/, 'next to, as well as'],
  [/\bsays? so\b/, 'has a note, has a message'],
  [/\bhanded out\b|\bthat there is\b|\bany more\b/, 'plain words'],
  [/\b[Bb]y category\b|^Category$/, 'purpose'],
  [/\bPyTorch(’|')s cache, which is inside\b|\breserves? \S+ of PyTorch’s cache\b/, 'reserved memory'],
];

/** Sources whose texts are read by people, and those in which a comment or a name may be. */
const FOLDERS = ['extension', 'native', 'webview', 'docs', 'README.md', 'package.nls.json'];
const listed = execFileSync('git', ['ls-files', ...FOLDERS], { cwd: root, encoding: 'utf8' });
const ROOMS =
  /^(extension|webview)\/.*\.ts$|^native\/.*\.(cpp|h|py)$|^extension\/cli\/mcp\/(tools\.json|skills\/.*\.md)$|^docs\/[\w-]+\.md$|^README\.md$|^package\.nls\.json$/;
const files = listed.split('\n').filter(file => ROOMS.test(file) && !/\.gen\.|\.d\.ts$/.test(file));

function textsOf(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  // What is code in a page may be a name of a contract.
  if (file.endsWith('.md'))
    return source
      .replace(/^```[^]*?^```/gm, '')
      .replace(/`[^`]*`/g, '`…`')
      .split('\n\n');
  if (file.endsWith('.ts')) return literals(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  const code = source.replace(/^\s*(\/\/|#|""").*$|\s\/\/.*$/gm, '');
  return [...code.matchAll(/R"\(([^]*?)\)"|"((?:[^"\\\n]|\\.)*)"/g)].map(([, raw, text = '']) => raw ?? text);
}

/** Of strings and templates, whose values are `{0}`. */
function literals(node: ts.Node): string[] {
  if (ts.isImportDeclaration(node)) return [];
  const own = ts.isStringLiteralLike(node)
    ? [node.text]
    : ts.isTemplateExpression(node)
      ? [node.head.text + node.templateSpans.map(span => `{0}${span.literal.text}`).join('')]
      : [];
  const inner: string[] = [];
  ts.forEachChild(node, child => void inner.push(...literals(child)));
  return [...own, ...inner];
}

test('texts for people have the words of the glossary', () => {
  const all = files.flatMap(file => textsOf(file).map(text => ({ file, text })));
  assert.ok(all.length > 2000, `${all.length} texts are read`);
  const wrong = all.flatMap(({ file, text }) =>
    BANNED.filter(([form]) => form.test(text)).map(([form, instead]) => {
      return `${file}: "${form.exec(text)?.[0]}" in "${text.trim().slice(0, 90)}": ${instead}`;
    }),
  );
  assert.deepEqual(wrong, []);
});

test('the glossary has at most 40 terms, each once and with its meaning', () => {
  const rows = readFileSync(join(root, 'extension/text/GLOSSARY.md'), 'utf8').matchAll(/^\| (\w.*?) +\| (.*?) +\|/gm);
  const [, ...terms] = [...rows].map(([, term = '', meaning = '']) => ({ term, meaning }));
  assert.ok(terms.length > 30 && terms.length <= 40, `${terms.length}`);
  assert.equal(new Set(terms.map(({ term }) => term)).size, terms.length);
  for (const { term, meaning } of terms) assert.ok(meaning.length > 10, term);
});
