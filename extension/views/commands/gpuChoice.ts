import * as vscode from 'vscode';
import { findDriver } from '../../capture/processes/machine';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import { inheritedEnvironment } from '../session/terminal';

export type GpuChoice = { simulated: boolean } | { missing: string };
type Setting = 'off' | 'whenNoGpu' | 'always';

/** Whether the simulated GPU is to be used; `missing`: there is no GPU, in a sentence. */
export async function chooseGpu(plan: LaunchPlan): Promise<GpuChoice> {
  const setting = simulateSetting();
  if (setting === 'always') return { simulated: true };
  const environment = { ...inheritedEnvironment(), ...plan.environment };
  const { libcuda, gpu } = await findDriver(environment);
  if (libcuda !== null && gpu) return { simulated: false };
  if (setting === 'whenNoGpu') return { simulated: true };
  const what = libcuda === null ? vscode.l10n.t('no NVIDIA driver (libcuda.so.1)') : vscode.l10n.t('no NVIDIA GPU');
  return {
    missing: vscode.l10n.t('This machine has {0}: use the simulated GPU to try the program without one.', what),
  };
}

function simulateSetting(): Setting {
  const value = vscode.workspace.getConfiguration('gpuMemoryTrace').get<unknown>('simulateGpu');
  if (value === true) return 'always';
  return value === 'whenNoGpu' || value === 'always' ? value : 'off';
}

/** Shows the sentence with its ways out, in a dialog because the user waits for the program to start; null: none was taken. */
export async function offerSimulator(sentence: string): Promise<'simulate' | 'sample' | null> {
  const once = vscode.l10n.t('Use the Simulated GPU');
  const always = vscode.l10n.t('Always Without a GPU');
  const sample = vscode.l10n.t('Try the Sample');
  const detail = vscode.l10n.t(
    'PyTorch itself cannot run on the simulated GPU: that hands out addresses, but holds no memory and computes nothing. The sample that comes with this extension needs no PyTorch.',
  );
  const answer = await vscode.window.showErrorMessage(sentence, { modal: true, detail }, once, always, sample);
  if (answer === sample) return 'sample';
  if (answer === always) {
    const settings = vscode.workspace.getConfiguration('gpuMemoryTrace');
    await settings.update('simulateGpu', 'whenNoGpu', vscode.ConfigurationTarget.Global);
  }
  return answer === once || answer === always ? 'simulate' : null;
}
