// Texts that can be translated, gathered into media/l10n/bundle.l10n.json: what a translator copies to bundle.l10n.<language>.json.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { inRoot } from './root.mjs';

const FOLDERS = ['extension', 'webview'];
const BUNDLE = 'media/l10n/bundle.l10n.json';

/** All messages of `t(…)` and `….l10n.t(…)`, sorted; a call that no translator can follow is an error that names it. */
export function messages() {
  const found = new Set();
  const wrong = [];
  for (const folder of FOLDERS) {
    for (const name of readdirSync(inRoot(folder), { recursive: true })) {
      if (!name.endsWith('.ts')) continue;
      const file = `${folder}/${name}`;
      for (const { call, line } of callsIn(file, readFileSync(inRoot(file), 'utf8'))) {
        const [first, ...rest] = call.arguments;
        if (first === undefined || !ts.isStringLiteralLike(first))
          wrong.push(`${file}:${line}: its text is no literal`);
        else if (missing(first.text, rest)) wrong.push(`${file}:${line}: its {…} and its arguments differ`);
        else found.add(first.text);
      }
    }
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return [...found].sort();
}

/** Do numbers in braces and arguments not fit together? Arguments that are spread cannot be counted. */
function missing(text, rest) {
  if (rest.some(ts.isSpreadElement)) return false;
  const used = new Set([...text.matchAll(/\{(\d+)\}/g)].map(([, number]) => Number(number)));
  return used.size !== rest.length || rest.some((_, number) => !used.has(number));
}

function callsIn(file, source) {
  if (!/l10n|Translate/.test(source)) return [];
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const calls = [];
  const visit = node => {
    if (ts.isCallExpression(node) && /^(t|(vscode\.)?l10n\.t)$/.test(node.expression.getText(tree)))
      calls.push({ call: node, line: tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1 });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return calls;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    const texts = messages();
    console.log(`${texts.length} texts`);
    if (!process.argv.includes('--check')) {
      mkdirSync(inRoot('media/l10n'), { recursive: true });
      writeFileSync(
        inRoot(BUNDLE),
        `${JSON.stringify(Object.fromEntries(texts.map(text => [text, text])), null, 2)}\n`,
      );
    }
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
