// The page, its styles and what was recorded, in one file that needs nothing else.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readBytes } from '../files/files';
import { escapeXml } from '../text/xml';
import { packPage } from './pack';
import { recordPage, type RecordedPage, type Recording, type StartEngine } from './recordPage';
import { redactPage } from './redact';

/** Before the page's own script: it stands in for the editor. */
const SCRIPTS = ['recorded.js', 'explorer.js'];
const STYLES = ['codicon.css', 'recorded.css', 'explorer.css'];

/** A line cannot be opened, and not all blocks are in the file. */
const WORDS = {
  'Open {0}': 'Copy {0}',
  'Open line': 'Copy file and line',
  '{0} of {1}, from the largest call stack': '{0} of {1}',
};

/** A trace as a page. `dist`: of `htmlFile`. Rejects as `recordPage` does. */
export async function* htmlChunks(
  start: StartEngine,
  { dist, redact, ...of }: Recording & { dist: string; redact: boolean },
): AsyncGenerator<Uint8Array> {
  const page = await recordPage(start, of);
  yield Buffer.from(htmlFile(redact ? redactPage(page) : page, dist));
}

/** @param dist has the pages' scripts and styles. Throws where they are missing. */
export function htmlFile(page: RecordedPage, dist: string): string {
  const read = (name: string): Buffer => readBytes(join(dist, 'webview', name));
  const textOf = (name: string): string =>
    read(name)
      .toString()
      .replace(/\n?(\/\/|\/\*)# sourceMappingURL=\S*( \*\/)?\s*$/, '');
  const font = `url(data:font/ttf;base64,${read('codicon.ttf').toString('base64')})`;
  const scripts = SCRIPTS.map(name => textOf(name).replaceAll('</script', '<\\/script'));
  const styles = STYLES.map(name => textOf(name).replace(/url\([^)]*codicon\.ttf[^)]*\)/, font));
  const policy = [
    `default-src 'none'`,
    `img-src data:`,
    `font-src data:`,
    // The toolkit makes an empty one, and adds its rules to it.
    `style-src ${['', ...styles].map(hashOf).join(' ')}`,
    `script-src ${scripts.map(hashOf).join(' ')}`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
  const data = gzipSync(packPage(page), { level: 9 }).toString('base64');
  const title = escapeXml(page.session.title);
  return [
    '<!DOCTYPE html>',
    '<html lang="en"><head><meta charset="UTF-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escapeXml(policy)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${title}</title>`,
    ...styles.map(style => `<style>${style}</style>`),
    '</head><body class="recorded"><noscript>This page needs JavaScript.</noscript>',
    `<main id="app" data-strings="${escapeXml(JSON.stringify(WORDS))}"></main>`,
    `<script type="text/plain" id="recorded">${data}</script>`,
    ...scripts.map(script => `<script>${script}</script>`),
    '</body></html>\n',
  ].join('\n');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
