import * as vscode from 'vscode';
import type { Environment } from '../capture/environment';
import type { LaunchPlan } from '../capture/launchConfiguration';
import { joinWords } from '../capture/shellWords';
import { terminalArguments } from '../capture/terminalScript';

/** The terminal in which a traced program runs. */
export interface ProgramTerminal {
  show(): void;
  /** Types Ctrl+C. */
  interrupt(): void;
  /** The user closed it, or its shell ended. */
  closed(): boolean;
}

/** Runs the program in an integrated terminal; its process id and exit status go to the trace directory. */
export function openTerminal(plan: LaunchPlan, directory: string, variables: Record<string, string>): ProgramTerminal {
  const before = vscode.l10n.t('The program ended with status');
  const behind = vscode.l10n.t('Press any key to close the terminal.');
  const terminal = vscode.window.createTerminal({
    name: vscode.l10n.t('GPU Memory: {0}', plan.title),
    shellPath: '/bin/sh',
    shellArgs: terminalArguments(directory, [before, behind], variables, plan.command),
    cwd: plan.cwd,
    env: plan.environment,
    message: joinWords(plan.command),
    iconPath: new vscode.ThemeIcon('pulse'),
  });
  terminal.show(true);
  return {
    show: () => terminal.show(true),
    interrupt: () => terminal.sendText('\x03', false),
    closed: () => terminal.exitStatus !== undefined,
  };
}

/** The variables a new terminal begins with. */
export function inheritedEnvironment(): Environment {
  const configured = vscode.workspace
    .getConfiguration('terminal.integrated.env')
    .get<Record<string, string | null>>('linux');
  const environment: Environment = { ...process.env };
  for (const [name, value] of Object.entries(configured ?? {})) environment[name] = value ?? undefined;
  return environment;
}
