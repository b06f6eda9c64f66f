// Looks whether what the pages (*.md) of a folder link to is there: files, pictures, headings. Says each link that leads nowhere.
//   node test/project/links.mjs [FOLDER]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { inRoot } from './root.mjs';

const root = resolve(process.argv[2] ?? inRoot('.'));
const LEFT = new Set(['node_modules', 'dist', 'build', '.git', '.vscode-test']);

function* pagesOf(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory() && !LEFT.has(entry.name)) yield* pagesOf(join(folder, entry.name));
    else if (entry.name.endsWith('.md')) yield join(folder, entry.name);
  }
}

/** A page without its code, where brackets mean something else. */
const proseOf = page =>
  readFileSync(page, 'utf8')
    .replace(/^```[^]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '');

/** Headings as links name them. */
const anchorsOf = page =>
  [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

/** Where a page leads: `[words](to)`, `![words](to)`, `[name]: to`. */
function linksOf(page) {
  const inline = /\]\(([^)\s]+)\)/g;
  const named = /^\[[^\]]+\]: (\S+)/gm;
  return [inline, named].flatMap(link => [...proseOf(page).matchAll(link)].map(([, to]) => to));
}

function leadsSomewhere(page, link) {
  if (/^[a-z]+:/.test(link)) return true; // another site
  const [path, anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  return existsSync(target) && (anchor === undefined || anchorsOf(target).includes(anchor));
}

const broken = [...pagesOf(root)].flatMap(page =>
  linksOf(page)
    .filter(link => !leadsSomewhere(page, link))
    .map(link => `${relative(root, page)}: ${link} leads nowhere\n`),
);
process.stdout.write(broken.join(''));
process.exit(broken.length > 0 ? 1 : 0);
