import { escapeXml } from '../../text/xml';

/** What the page's HTML is made of; addresses as the webview sees them. */
export interface PageParts {
  nonce: string;
  cspSource: string;
  language: string;
  title: string;
  script: string;
  styles: string[];
  /** Translations of the page's texts by their English ones; none in English. */
  strings: Record<string, unknown> | undefined;
}

/** The page: strict content security policy, one script, styles from the extension alone. */
export function pageHtml(parts: PageParts): string {
  const { nonce, cspSource } = parts;
  const policy = [
    `default-src 'none'`,
    `img-src ${cspSource} data:`,
    `font-src ${cspSource}`,
    `style-src ${cspSource} 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
  ].join('; ');
  const styles = parts.styles.map(href => `    <link rel="stylesheet" href="${escapeXml(href)}">`).join('\n');
  return `<!DOCTYPE html>
<html lang="${escapeXml(parts.language)}">
  <head>
    <meta charset="UTF-8">
    <meta http-equiv="Content-Security-Policy" content="${escapeXml(policy)}">
    <meta property="csp-nonce" content="${nonce}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeXml(parts.title)}</title>
${styles}
  </head>
  <body>
    <main id="app" data-strings="${escapeXml(JSON.stringify(parts.strings ?? {}))}"></main>
    <script nonce="${nonce}" src="${escapeXml(parts.script)}"></script>
  </body>
</html>
`;
}
