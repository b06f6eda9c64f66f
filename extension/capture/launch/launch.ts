import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Environment } from './environment';

export interface LaunchRequest {
  command: string[];
  cwd: string;
  environment: Environment;
}
/** The running program; it owns stdin, stdout and stderr. */
export interface Launched {
  pid: number;
  /** The status a shell would give: 128 + signal when a signal ended it. */
  ended: Promise<number>;
}
/** `status` as a shell gives it: 127 not found, 126 not executable. */
export interface NotLaunched {
  status: number;
  error: string;
}

/** Signals that reach only us when somebody names our process id. */
const FORWARDED: NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGCONT'];
/** Signals of the terminal: its whole foreground group gets them, the program among it. */
const FROM_TERMINAL: NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/** Starts the program with the same stdin, stdout, stderr, process group and terminal. */
export function launch(request: LaunchRequest): Promise<Launched | NotLaunched> {
  return new Promise(done => {
    const program = request.command[0] ?? '';
    let child: ChildProcess;
    try {
      child = spawn(program, request.command.slice(1), {
        cwd: request.cwd,
        env: request.environment,
        stdio: 'inherit',
      });
    } catch (error) {
      done(notLaunched(program, error));
      return;
    }
    const stopForwarding = forwardSignals(child);
    const ended = new Promise<number>(finish => {
      child.once('exit', (code, signal) => {
        stopForwarding();
        finish(exitStatus(code, signal));
      });
    });
    child.once('error', error => {
      if (child.pid !== undefined) return;
      stopForwarding();
      done(notLaunched(program, error));
    });
    child.once('spawn', () => done({ pid: child.pid ?? 0, ended }));
  });
}

function notLaunched(program: string, error: unknown): NotLaunched {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return { status: 127, error: `${program}: command not found.` };
  if (code === 'EACCES') return { status: 126, error: `${program}: permission denied, it cannot be executed.` };
  const reason = error instanceof Error ? error.message : String(error);
  return { status: 126, error: `${program}: cannot be executed (${reason}).` };
}

export function exitStatus(code: number | null, signal: NodeJS.Signals | null): number {
  return signal === null ? (code ?? 0) : 128 + constants.signals[signal];
}

/** The signal behind a status above 128, null when there is none with that number. Real-time signals have no name here. */
export function signalName(status: number): string | null {
  const signal = status - 128;
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
  return name ?? (signal >= 32 && signal <= 64 ? `signal ${signal}` : null);
}

function forwardSignals(child: ChildProcess): () => void {
  const handlers = new Map<NodeJS.Signals, () => void>();
  for (const signal of FORWARDED) handlers.set(signal, () => child.kill(signal));
  for (const signal of FROM_TERMINAL) {
    handlers.set(signal, () => {
      if (!ownsTerminal(readStat())) child.kill(signal);
    });
  }
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return () => {
    // The terminal's own signals may still come while the last table is printed.
    for (const signal of FORWARDED) process.off(signal, handlers.get(signal) as () => void);
  };
}

/**
 * Whether our process group is the foreground group of a controlling terminal: then its Ctrl+C reached the program as
 * well. Fields of /proc/PID/stat: proc(5), pgrp 5, tty_nr 7, tpgid 8.
 */
export function ownsTerminal(stat: string): boolean {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [, , group, , terminal, foreground] = fields;
  return terminal !== undefined && terminal !== '0' && group === foreground;
}

function readStat(): string {
  try {
    return readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return '';
  }
}
