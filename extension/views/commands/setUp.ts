import * as vscode from 'vscode';
import type { CommandName } from '../contributedNames';

/** What is done once, or seldom: one list instead of a command each in the palette. */
export async function setUp(): Promise<void> {
  const items: (vscode.QuickPickItem & { command: CommandName })[] = [
    {
      label: vscode.l10n.t('Trace with arguments…'),
      detail: vscode.l10n.t('Enter new arguments for the active Python file'),
      command: 'startWithArguments',
    },
    {
      label: vscode.l10n.t('Trace a launch configuration…'),
      detail: vscode.l10n.t('Use a Python configuration from launch.json'),
      command: 'startConfiguration',
    },
    {
      label: vscode.l10n.t('Choose the Python interpreter…'),
      detail: vscode.l10n.t('Set the interpreter that runs traced programs'),
      command: 'chooseInterpreter',
    },
    {
      label: vscode.l10n.t('Install a Jupyter kernel'),
      detail: vscode.l10n.t('Notebooks that use it are traced'),
      command: 'installKernel',
    },
    {
      label: vscode.l10n.t('Toggle inline memory annotations'),
      detail: vscode.l10n.t('Show the live memory of each line in the source'),
      command: 'toggleLineBytes',
    },
  ];
  const title = vscode.l10n.t('Set up GPU Memory Trace');
  const picked = await vscode.window.showQuickPick(items, { title, matchOnDetail: true });
  if (picked !== undefined) await vscode.commands.executeCommand(`gpuMemoryTrace.${picked.command}`);
}
