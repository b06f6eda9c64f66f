import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { pageHtml } from './html';

/** Loads the page whose script and styles have this name; it may read `folder` alone, and its links may run `commands`. */
export function fillPage(
  webview: vscode.Webview,
  folder: vscode.Uri,
  name: string,
  title: string,
  commands: readonly string[] = [],
): void {
  const address = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(folder, file)).toString();
  webview.options = { enableScripts: true, localResourceRoots: [folder], enableCommandUris: commands };
  webview.html = pageHtml({
    nonce: randomBytes(16).toString('hex'),
    cspSource: webview.cspSource,
    language: vscode.env.language,
    title,
    script: address(`${name}.js`),
    styles: [address('codicon.css'), address(`${name}.css`)],
    strings: vscode.l10n.bundle,
  });
}
