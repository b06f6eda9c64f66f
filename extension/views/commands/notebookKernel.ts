import * as vscode from 'vscode';
import { commandLine } from '../../capture/checks/attachTarget';
import { installKernel } from '../../capture/kernel/kernelSpec';
import { Refused } from '../session/refused';
import { refuseUntrusted } from '../session/sessions';
import { inheritedEnvironment } from '../session/terminal';
import { findInterpreter } from './interpreter';

/** Writes a kernel for the chosen interpreter into the user's own folder: an environment may be thrown away. */
export async function installNotebookKernel(dist: string): Promise<void> {
  refuseUntrusted();
  const python = await findInterpreter(vscode.window.activeTextEditor?.document.uri);
  const choice = { kernel: null, python, place: 'user', name: null } as const;
  const done = installKernel(commandLine(dist), choice, inheritedEnvironment());
  if ('error' in done) throw new Refused(done.error);
  const message = vscode.l10n.t('Installed: choose the kernel "{0}" in a notebook.', done.displayName);
  void vscode.window.showInformationMessage(message);
}
