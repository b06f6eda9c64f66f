import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Environment } from '../../capture/processes/machine';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import { attempt } from '../../base/attempt';
import { readBytes } from '../../files/files';
import { processAlive } from '../../capture/processes/processAlive';
import { joinWords } from '../../capture/launch/shellWords';
import { directoryOf, readStatus, terminalArguments } from '../../capture/launch/terminalScript';

/** The terminal in which a traced program runs. */
export interface ProgramTerminal {
  /** Process id of its shell; undefined: it could not be started. */
  readonly pid: Thenable<number | undefined>;
  /** Types Ctrl+C. False: there is no such terminal any more. */
  interrupt(): Promise<boolean>;
  /** The user closed it, or its shell ended. */
  closed(): boolean;
  /** Calls `listener` once it is closed. */
  onClosed(listener: () => void): { dispose(): void };
  /** The end of what the program printed, once it has ended; absent: not known. */
  lastOutput?(): Promise<string>;
}

/** Gives the program these variables and a terminal; called once its trace directory is there. */
export type OpenTerminal = (directory: string, variables: Record<string, string>) => ProgramTerminal;

/** Between two checks for a terminal that VS Code has not restored yet after a reload. */
const GIVEN_BACK_MS = 1_000;

/** Of a program's output so much is kept, and its last part awaited for so long. */
const OUTPUT_LETTERS = 16_384;
const OUTPUT_MS = 2_000;

/** Terminals of this window, with the trace directory of what ran in them. */
const opened = new Map<vscode.Terminal, string>();

/** Closes the terminal of this name, or of what was recorded in this directory, if its program has ended. */
export function closeEnded(of: { name: string } | { directory: string | null }): void {
  for (const [terminal, directory] of opened) {
    const ended = terminal.exitStatus !== undefined || hasEnded(directory);
    const isThis = 'name' in of ? terminal.name === of.name : directory === of.directory;
    if (!ended || !isThis) continue;
    opened.delete(terminal);
    terminal.dispose();
  }
}

const hasEnded = (directory: string): boolean => readStatus(directory) !== null || !existsSync(directory);

/** The same for those of this name that a window before opened. */
async function closeReloaded(name: string): Promise<void> {
  for (const terminal of vscode.window.terminals) {
    if (terminal.name !== name || opened.has(terminal)) continue;
    const pid = await terminal.processId;
    const shell = attempt(() => readBytes(`/proc/${pid}/cmdline`).toString('utf8').split('\0'), []);
    const directory = directoryOf(shell);
    if (directory !== null && hasEnded(directory)) terminal.dispose();
  }
}

/** Keeps the end of what a terminal that was just made prints; resolves once that has ended. */
function outputOf(made: vscode.Terminal): () => Promise<string> {
  let output = '';
  const ended = new Promise<void>(done => {
    const started = vscode.window.onDidStartTerminalShellExecution(async ({ terminal, execution }) => {
      if (terminal !== made) return;
      started.dispose();
      for await (const data of execution.read()) output = (output + data).slice(-OUTPUT_LETTERS);
      done();
    });
  });
  return async () => {
    await Promise.race([ended, sleep(OUTPUT_MS)]);
    return output;
  };
}

/** Runs the program in an integrated terminal; its process id and exit status go to the trace directory. */
export function openTerminal(plan: LaunchPlan, directory: string, variables: Record<string, string>): ProgramTerminal {
  const before = vscode.l10n.t('The program ended with status');
  const behind = vscode.l10n.t('Press any key to close the terminal.');
  const name = plan.title;
  closeEnded({ name }); // makes room for the next one
  void closeReloaded(name);
  const terminal = vscode.window.createTerminal({
    name,
    shellPath: '/bin/sh',
    shellArgs: terminalArguments(directory, [before, behind], variables, plan.command),
    cwd: plan.cwd,
    env: plan.environment,
    message: joinWords(plan.command),
    iconPath: new vscode.ThemeIcon('pulse'),
  });
  opened.set(terminal, directory);
  terminal.show(true);
  return {
    pid: terminal.processId,
    interrupt: () => {
      terminal.sendText('\x03', false);
      return Promise.resolve(terminal.exitStatus === undefined);
    },
    closed: () => terminal.exitStatus !== undefined,
    onClosed: listener => vscode.window.onDidCloseTerminal(closed => closed === terminal && listener()),
    lastOutput: outputOf(terminal),
  };
}

/**
 * The terminal of a program that was started before the window was reloaded. VS Code gives it back a while later, or not
 * at all: it is searched each time. `sinceMs`: when its shell ran.
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
    onClosed: listener => {
      const closed = vscode.window.onDidCloseTerminal(() => processAlive(pid, sinceMs) || listener());
      // One that VS Code does not give back is closed without a word.
      const timer = setInterval(() => {
        if (!processAlive(pid, sinceMs)) listener();
        else void find().then(found => found && clearInterval(timer));
      }, GIVEN_BACK_MS);
      return {
        dispose: () => {
          clearInterval(timer);
          closed.dispose();
        },
      };
    },
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
