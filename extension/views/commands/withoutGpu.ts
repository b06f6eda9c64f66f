import * as vscode from 'vscode';
import { findDriver } from '../../capture/processes/machine';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import { inheritedEnvironment } from '../session/terminal';

/** Why the program would find no GPU, in a sentence; null: it finds one. */
export async function missingGpu({ environment }: LaunchPlan): Promise<string | null> {
  const { libcuda, gpu } = await findDriver({ ...inheritedEnvironment(), ...environment });
  if (libcuda === null)
    return vscode.l10n.t('This machine has no NVIDIA driver (libcuda.so.1), so nothing was started.');
  return gpu ? null : vscode.l10n.t('This machine has no NVIDIA GPU, so nothing was started.');
}

/** Shows the sentence with its ways out, in a dialog because the user waits for the program to start; null: none was taken. */
export async function offerWithoutGpu(sentence: string): Promise<'trySample' | 'doctor' | null> {
  const sample = vscode.l10n.t('Try the Sample');
  const check = vscode.l10n.t('Check This Machine');
  const detail = vscode.l10n.t('The sample is a recorded run on a GPU, with its leak: nothing runs here.');
  const answer = await vscode.window.showErrorMessage(sentence, { modal: true, detail }, sample, check);
  return answer === sample ? 'trySample' : answer === check ? 'doctor' : null;
}
