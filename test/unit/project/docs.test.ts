// What the packed extension points to is packed.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(__dirname, '../../../..');

const {
  files,
  contributes: { configuration },
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  files: string[];
  contributes: { configuration: { properties: object } };
};
/** What people click in the editor itself. */
const OF_VS_CODE = ['Install from VSIX…', 'Open With…', 'Reload Window'];
const SKILL = 'gpu-memory-debugging';
const MANUAL = readdirSync(join(root, 'docs')).flatMap(name => (name.endsWith('.md') ? [`docs/${name}`] : []));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const globs = files.map(pattern => `:(glob)${pattern}`);
const found = execFileSync('git', ['ls-files', '--cached', '--others', '--', 'README.md', ...globs], {
  cwd: root,
  encoding: 'utf8',
});
/** What `vsce ls` lists: its patterns are those of git's `:(glob)`. */
const packed = new Set(found.split('\n'));

test('the sample is in the package, and nothing of the test bed', () => {
  for (const name of ['finetune.py', 'finetune.gputrace']) assert.ok(packed.has(`media/sample/${name}`), name);
  const native = [...packed].filter(file => file.startsWith('dist/native/'));
  assert.ok(native.includes('dist/native/libgpumemtrace.so'), native.join());
  const others = [...packed].filter(file => /simulator|^build\/|^test\/(?!bench\/\w+\.(md|svg)$)/.test(file));
  assert.deepEqual(others, []);
});

test('every link of every packed page leads to a packed page, picture or heading', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-packed-'));
  for (const file of [...packed].filter(file => file !== '' && !file.startsWith('dist/')))
    cpSync(join(root, file), join(folder, file));
  const { stdout } = spawnSync(process.execPath, [join(root, 'test/project/links.mjs'), folder], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  assert.ok(packed.has('docs/README.md') && packed.has('README.md'));
  assert.equal(stdout, '');
});

test('pages that the command line, the page of checks and the skill name are packed', () => {
  const named = ['cli/arguments/help.ts', 'views/page/doctorLinks.ts', `cli/mcp/skills/${SKILL}/SKILL.md`].flatMap(
    file =>
      [...textOf(`extension/${file}`).matchAll(/(?<![\w/.])((?:[\w.-]+\/)+[\w.-]+\.md)\b/g)].map(
        ([, page = '']) => page,
      ),
  );
  assert.ok(named.length >= 5, named.join());
  assert.deepEqual(
    named.filter(page => !packed.has(page)),
    [],
  );
});

test('the landing page is read in minutes, and the manual in an hour', () => {
  const words = (pages: string[]): number =>
    pages.flatMap(page => textOf(page).split(/\s+/)).filter(word => /\w/.test(word)).length;
  assert.ok(words(['README.md']) <= 900, `${words(['README.md'])} words`);
  assert.ok(words(MANUAL) <= 12_000, `${words(MANUAL)} words`);
  const contents = textOf('docs/README.md');
  for (const page of MANUAL.filter(page => page !== 'docs/README.md'))
    assert.ok(contents.includes(`](${page.slice('docs/'.length)})`), page);
});

test('the manual calls commands, settings and parts of the page as the product does', () => {
  const sources = execFileSync('git', ['ls-files', 'package.nls.json', 'extension/*.ts', 'webview/*.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  const product = sources.trim().split('\n').map(textOf).join('\n');
  const page = textOf('docs/reading-the-page.md');
  const rows = [...(page.split('## Commands')[1]?.matchAll(/^\| ([A-Z][^|]*?) +\|/gm) ?? [])].map(
    ([, title = '']) => title,
  );
  assert.ok(rows.length >= 16, rows.join());
  assert.deepEqual(
    rows.filter(title => !textOf('package.nls.json').includes(`": "${title}"`)),
    [],
  );
  const settings = Object.keys(configuration.properties).filter(name => !page.includes(`\`${name}\``));
  assert.deepEqual(settings, []);
  // Bold words are what a person clicks, unless they are a heading: those end with a mark, and questions begin a line.
  const bold = ['README.md', ...MANUAL]
    .flatMap(file => [
      ...textOf(file)
        .replace(/`[^`\n]*`/g, '`')
        .matchAll(/(\n)?\*\*([^*]+)\*\*/g),
    ])
    .filter(([, start, name = '']) => !/[.:]$|`/.test(name) && !(start !== undefined && name.endsWith('?')))
    .map(([, , name = '']) => name.replace(/\s+/g, ' '));
  assert.ok(bold.length > 20, bold.join());
  assert.deepEqual(
    [...new Set(bold)].filter(name => !product.includes(name) && !OF_VS_CODE.includes(name)),
    [],
  );
});

test('the programs that the page of results counts are there', () => {
  interface Expected {
    verdict: string;
    libraries?: string[];
    report?: string;
  }
  const corpus: Expected[] = Object.values(
    JSON.parse(textOf('test/workloads/corpus/expect.json')) as Record<string, Expected>,
  );
  const leaks = corpus.filter(({ verdict }) => verdict === 'leak').length;
  const page = textOf('docs/results.md').replace(/\s+/g, ' ');
  const [clean, libraries, reports] = [
    corpus.length - leaks,
    corpus.filter(program => program.libraries?.length).length,
    corpus.filter(program => program.report).length,
  ];
  const claims = [
    `${corpus.length} programs that train or serve with PyTorch: ${leaks} with a leak and ${clean} without. ${libraries} use real libraries, and ${reports} follow a public bug report`,
  ];
  const names = {
    lightning: 'Lightning',
    torch_geometric: 'PyTorch Geometric',
    accelerate: 'Accelerate',
    peft: 'PEFT',
  };
  const used = corpus.flatMap(program => program.libraries ?? []);
  for (const library of new Set(used)) {
    const name = Object.entries(names).find(([key]) => key === library)?.[1] ?? library;
    claims.push(`| ${name} | ${used.filter(one => one === library).length} |`);
  }
  assert.deepEqual(
    claims.filter(claim => !page.includes(claim)),
    [],
  );
});
