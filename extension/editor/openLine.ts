import * as vscode from 'vscode';
import { sourcePath } from '../files/sourcePath';
import type { SourceFolders } from '../protocol/cwd';
import { fileLine } from '../text/format';
import { findCell, isCell } from './notebookCell';

const HALF = 50;

export interface OpenLineOptions {
  /** Percent of its width that a page keeps which is the only editor; 0: it has no room for another one beside it. */
  room?: number;
  /** The keyboard stays where it is, as after a click on a row of Problems; not where the editor covers the page. */
  preserveFocus?: boolean;
}

/** Puts the cursor on a line of the program's source. Rejects with one sentence when the file cannot be shown. */
export async function openLine(
  file: string,
  line: number,
  folders: SourceFolders,
  options: OpenLineOptions = {},
): Promise<void> {
  if (isCell(file)) return openCell(file, line, options);
  if (file === '' || file.startsWith('<')) {
    throw new Error(vscode.l10n.t('This code has no file: {0}.', file === '' ? '?' : file));
  }
  const uri = vscode.Uri.file(sourcePath(file, folders));
  let document: vscode.TextDocument;
  try {
    document = await vscode.workspace.openTextDocument(uri);
  } catch {
    throw new Error(vscode.l10n.t('{0} cannot be opened. Check that it still exists.', uri.fsPath));
  }
  await show(document, line, options);
}

async function openCell(file: string, line: number, options: OpenLineOptions): Promise<void> {
  const cell = findCell(file);
  if (cell === null) {
    const name = fileLine(file, line);
    throw new Error(vscode.l10n.t('{0} is not in an open notebook. Open the notebook that ran it.', name));
  }
  await vscode.window.showNotebookDocument(cell.notebook, {
    ...placeOf(options),
    selections: [new vscode.NotebookRange(cell.index, cell.index + 1)],
  });
  await show(cell.document, line, options);
}

async function show(document: vscode.TextDocument, line: number, options: OpenLineOptions): Promise<void> {
  const at = new vscode.Position(Math.min(Math.max(line, 1), document.lineCount) - 1, 0);
  const place = placeOf(options);
  const editor = await vscode.window.showTextDocument(document, { preview: true, ...place });
  editor.selection = new vscode.Selection(at, at); // given to the call above, it would scroll a line that is in sight
  if (place.viewColumn === vscode.ViewColumn.Beside) await keepPage(options);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** The new group takes what the page can spare; VS Code halves its room. */
async function keepPage({ room = HALF }: OpenLineOptions): Promise<void> {
  const groups = [room, 100 - room].map(percent => ({ size: percent / 100 }));
  if (room !== HALF) await vscode.commands.executeCommand('vscode.setEditorLayout', { orientation: 0, groups });
}

/** A page that is an editor itself stays in sight: the line opens in another group, or in a new one if there is room; else in a tab. */
function placeOf({ room = HALF, preserveFocus = false }: OpenLineOptions): vscode.TextDocumentShowOptions {
  const { all, activeTabGroup } = vscode.window.tabGroups;
  const input = activeTabGroup.activeTab?.input;
  const page = input instanceof vscode.TabInputWebview || input instanceof vscode.TabInputCustom;
  if (!page) return { viewColumn: vscode.ViewColumn.Active, preserveFocus };
  const other = all.find(group => group !== activeTabGroup)?.viewColumn;
  if (other === undefined && room === 0) return { viewColumn: vscode.ViewColumn.Active };
  return { viewColumn: other ?? vscode.ViewColumn.Beside, preserveFocus };
}
