import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { reasonOf } from '../../../capture/traces/traceDirectory';
import type { Picture, PictureRequests } from '../../../protocol/requests/pictureRequests';
import type { PageModel } from '../model';
import type { Answers } from './answers';

const SAID_MS = 5_000;

export function pictureAnswers(model: PageModel): Answers<PictureRequests> {
  return { savePicture: picture => void save(model, picture) };
}

/** Asks for a file and writes the picture; to choose none is no error. */
async function save({ shown, view }: PageModel, picture: Picture): Promise<void> {
  const { name, format, data } = picture;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(shown?.cwd ?? homedir());
  const title = view().title.replace(/\.(py|gputrace|pickle)$/, '') || 'trace';
  const file = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Save as a picture'),
    defaultUri: vscode.Uri.joinPath(folder, `${title}-${name}.${format}`),
    filters: { [format.toUpperCase()]: [format] },
  });
  if (file === undefined) return;
  try {
    await vscode.workspace.fs.writeFile(file, Buffer.from(data, format === 'png' ? 'base64' : 'utf8'));
    vscode.window.setStatusBarMessage(vscode.l10n.t('Picture saved to {0}', file.fsPath), SAID_MS);
  } catch (error) {
    void vscode.window.showErrorMessage(vscode.l10n.t('{0} could not be written: {1}.', file.fsPath, reasonOf(error)));
  }
}
