import * as vscode from 'vscode';
import type { Environment } from '../../capture/processes/machine';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import { processAlive } from '../../capture/processes/processAlive';
import { joinWords } from '../../capture/launch/shellWords';
import { terminalArguments } from '../../capture/launch/terminalScript';

/** The terminal in which a traced program runs. */
export interface ProgramTerminal {
  /** Process id of its shell; undefined: it could not be started. */
  readonly pid: Thenable<number | undefined>;
  /** Types Ctrl+C. False: there is no such terminal any more. */
  interrupt(): Promise<boolean>;
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
    pid: terminal.processId,
    interrupt: () => {
      terminal.sendText('\x03', false);
      return Promise.resolve(terminal.exitStatus === undefined);
    },
    closed: () => terminal.exitStatus !== undefined,
  };
}

/**
 * The terminal of a program that was started before the window was reloaded. VS Code gives it back a while later, or not
 * at all: it is looked for each time. `sinceMs`: when its shell ran.
 */
export function reloadedTerminal(pid: number, sinceMs: number): ProgramTerminal {
  const find = async (): Promise<vscode.Terminal | undefined> => {
    for (const terminal of vscode.window.terminals) if ((await terminal.processId) === pid) return terminal;
    return undefined;
  };
  return {
    pid: Promise.resolve(pid),
    interrupt: async () => {
      const terminal = await find();
      terminal?.sendText('\x03', false);
      return terminal !== undefined;
    },
    closed: () => !processAlive(pid, sinceMs),
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
