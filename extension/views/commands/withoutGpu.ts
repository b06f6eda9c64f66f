import * as vscode from 'vscode';
import { findDriver } from '../../capture/processes/machine';
import { inheritedEnvironment } from '../session/terminal';

/** Why a program would find no GPU, in a sentence; null: it finds one. `environment`: what it gets beside a terminal's. */
export async function missingGpu(environment: Record<string, string> = {}): Promise<string | null> {
  const { libcuda, gpu } = await findDriver({ ...inheritedEnvironment(), ...environment });
  if (libcuda === null) return vscode.l10n.t('This machine has no NVIDIA driver (libcuda.so.1).');
  return gpu ? null : vscode.l10n.t('This machine has no NVIDIA GPU.');
}
