import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { getSystemErrorName } from 'node:util';
import type { Environment } from '../processes/machine';
import { joinWords } from './shellWords';

/** What starts programs (native/addon). */
export interface Starter {
  startProgram(
    words: string[],
    variables: string[],
    lastWord: string,
    streams: Streams,
  ): { error: number; pid: number; ended: Promise<number> };
}
/** The running program; it gets the signals that are sent to us. */
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

/** Where a program's stdin comes from, and where its stdout and stderr go. */
export type Streams = [stdin: number, stdout: number, stderr: number];

/** Starts the program here. `lastWord` is printed where a signal ends us after the program. */
export function launch(
  starter: Starter,
  command: readonly string[],
  environment: Environment,
  lastWord: string,
  streams: Streams = [0, 1, 2],
): Launched | NotLaunched {
  const variables = Object.entries(environment).filter(([, value]) => value !== undefined);
  const words = variables.map(([name, value]) => `${name}=${value}`);
  const { error, ...launched } = starter.startProgram([...command], words, lastWord, streams);
  return error === 0 ? launched : notLaunched(command, getSystemErrorName(-error));
}

/** A command that is a Python script, without `python` before it; null: it is none. */
function asTyped(command: readonly string[]): string | null {
  const isScript = /\.pyw?$/.test(command[0] ?? '');
  return isScript ? joinWords(['gpu-memtrace', 'run', '--', 'python', ...command]) : null;
}

/** A Python script is to be started that is not there, neither here nor in PATH; null: it may be started. */
export function missingScript(command: readonly string[]): NotLaunched | null {
  const [program = ''] = command;
  const typed = asTyped(command);
  const folders = program.includes('/') ? [] : (process.env.PATH ?? '').split(delimiter);
  if (typed === null || [program, ...folders.map(folder => join(folder, program))].some(file => existsSync(file)))
    return null;
  return { status: 127, error: `${resolve(program)}: no such file. To run a Python script, use: ${typed}` };
}

function notLaunched(command: readonly string[], reason: string): NotLaunched {
  const [program = ''] = command;
  const typed = asTyped(command);
  if (typed !== null && existsSync(program)) {
    const error = `${program} is a Python script, not a program. Use: ${typed}`;
    return { status: reason === 'ENOENT' ? 127 : 126, error };
  }
  if (reason === 'ENOENT') return { status: 127, error: `${program}: command not found.` };
  if (reason === 'EACCES') return { status: 126, error: `${program}: permission denied, it cannot be executed.` };
  return { status: 126, error: `${program}: cannot be executed (${reason}).` };
}

/** The signal behind a status above 128, null when there is none with that number. Real-time signals have no name here. */
export function signalName(status: number): string | null {
  const signal = status - 128;
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
  return name ?? (signal >= 32 && signal <= 64 ? `signal ${signal}` : null);
}
