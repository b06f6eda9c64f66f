import { join } from 'node:path';
import * as vscode from 'vscode';
import { onPath } from '../../capture/processes/machine';
import { Refused } from '../session/refused';
import { withServer } from './mcpJson';

/** Names `gpu-memtrace mcp` in the workspace's .mcp.json, shows the file and says what was done. */
export async function addMcpJson(dist: string): Promise<void> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined) throw new Refused(vscode.l10n.t('Open a folder first: .mcp.json lies in it.'));
  const file = vscode.Uri.joinPath(folder.uri, '.mcp.json');
  const before = await vscode.workspace.fs.readFile(file).then(String, () => '');
  const command = onPath('node', process.env) === null ? process.execPath : 'node';
  const server = { command, args: [join(dist, 'cli.js'), 'mcp'], env: { ELECTRON_RUN_AS_NODE: '1' } };
  const after = withServer(before, server);
  if (after === null) throw new Refused(vscode.l10n.t('{0} is not a JSON object: nothing was written.', file.fsPath));
  if (after !== before) await vscode.workspace.fs.writeFile(file, Buffer.from(after));
  await vscode.window.showTextDocument(file);
  const done =
    after === before
      ? vscode.l10n.t('.mcp.json names the server gpu-memory-trace already.')
      : vscode.l10n.t('.mcp.json now names the server gpu-memory-trace; what else is in it was left as it is.');
  void vscode.window.showInformationMessage(done);
}
