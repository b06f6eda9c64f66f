// The privileged tracer (native/uprobe) as a child process: started for one process, detached, waited for.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseTracerLine, type TracerProblem, type TracerReady } from './tracerProtocol';

export interface TracerRequest {
  program: string;
  pid: number;
  directory: string;
  /** The process has not loaded libcuda yet, or its children will. */
  waitLibraries: boolean;
  /** Events without a Python stack carry the native one. */
  nativeStacks: boolean;
  /** Most that the log of one process may take. */
  budgetBytes: number;
  /** What the process holds by now, by the driver: one figure for each of its GPUs; empty: not known, or it has just been started. */
  earlierBytes: readonly number[];
}

/** How it ended. */
export interface TracerEnd {
  /** Null after a requested detach, and after the end of the traced program. */
  problem: TracerProblem | null;
  /** Events that could not be recorded. */
  lost: number;
}

/** A detach by perf probes takes the kernel some seconds. */
const DETACH_LIMIT_MS = 20_000;
const KEPT_ERROR_TEXT = 2_000;

export function tracerProgram(dist: string): string {
  return join(dist, 'native', 'gpu-memtrace-uprobe');
}

/** One sentence when the tracer was not built, else null. */
export function tracerMissing(dist: string): TracerProblem | null {
  const program = tracerProgram(dist);
  if (existsSync(program)) return null;
  if (process.arch === 'arm64')
    return failure(
      'Attaching to a running program works on x86-64 only. Start the program with GPU Memory Trace instead.',
    );
  return failure(
    `The tracer for running programs is missing: ${program}; reinstall GPU Memory Trace, or install clang, bpftool and libbpf and build it with "npm run build".`,
  );
}

export function tracerArguments(request: Omit<TracerRequest, 'program'>): string[] {
  const words = ['attach', '--pid', String(request.pid), '--directory', request.directory, '--children'];
  words.push('--budget-bytes', String(Math.floor(request.budgetBytes)));
  for (const bytes of request.earlierBytes) words.push('--earlier-bytes', String(bytes));
  if (request.nativeStacks) words.push('--native-stacks');
  if (request.waitLibraries) words.push('--wait-libraries');
  return words;
}

/** One run of the tracer. Nothing of it throws or rejects. */
export class Tracer {
  /** Resolves once probes are in place, or with why they are not. */
  readonly ready: Promise<TracerReady | TracerProblem>;
  /** Resolves once the tracer's process is gone: no probe is left. */
  readonly ended: Promise<TracerEnd>;
  private readonly child: ChildProcess;
  private resolveReady: (result: TracerReady | TracerProblem) => void = () => undefined;
  private problem: TracerProblem | null = null;
  /** As its last message had it. */
  private lostInAll: number | null = null;
  private lostReported = 0;
  private isReady = false;
  private detaching = false;
  private errorText = '';

  constructor(request: TracerRequest) {
    this.ready = new Promise(done => (this.resolveReady = done));
    // A session of its own: Ctrl+C in the terminal is for the traced program, or for us to detach in order.
    this.child = spawn(request.program, tracerArguments(request), {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.ended = new Promise(done => this.followTo(done));
  }

  /** Takes the probes away and ends the tracer; the traced program continues. */
  detach(): void {
    if (this.detaching) return;
    this.detaching = true;
    this.child.stdin?.end();
    setTimeout(() => this.kill(), DETACH_LIMIT_MS).unref();
  }

  /** The kernel takes the probes away; events on their way are lost. */
  kill(): void {
    this.detaching = true;
    this.child.kill('SIGKILL');
  }

  private followTo(done: (end: TracerEnd) => void): void {
    const { child } = this;
    child.stdin?.on('error', () => undefined); // it ended first
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errorText = (this.errorText + text).slice(-KEPT_ERROR_TEXT);
    });
    if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', line => this.receive(line));
    child.once('error', error => {
      if (child.pid !== undefined) return;
      this.problem = notStarted(child.spawnfile, error);
      this.finish(done);
    });
    child.once('close', (code, signal) => {
      if (this.problem === null && !this.detaching && this.lostInAll === null) {
        this.problem = brokenOff(code, signal, this.errorText);
      }
      this.finish(done);
    });
  }

  private receive(line: string): void {
    const message = parseTracerLine(line);
    if (message === null) return;
    if (message.type === 'ready') {
      this.isReady = true;
      this.resolveReady(message);
    } else if (message.type === 'error') {
      this.problem = message;
    } else if (message.type === 'lost') {
      this.lostReported += message.count;
    } else if (message.type === 'ended') {
      this.lostInAll = message.lost;
    }
  }

  private finish(done: (end: TracerEnd) => void): void {
    if (!this.isReady) this.resolveReady(this.problem ?? failure('The tracer ended before its probes were in place.'));
    done({ problem: this.problem, lost: this.lostInAll ?? this.lostReported });
  }
}

function failure(message: string): TracerProblem {
  return { type: 'error', code: 'failed', message };
}

/** The kernel refuses to start a program whose file has capabilities that this process can never get. */
function notStarted(program: string, error: Error): TracerProblem {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EPERM')
    return { type: 'error', code: 'no-privilege', message: `${program} could not be started: permission denied.` };
  const reason = code === 'EACCES' ? 'it cannot be executed' : code === 'ENOENT' ? 'it is missing' : error.message;
  return failure(`The tracer ${program} does not start: ${reason}.`);
}

function brokenOff(code: number | null, signal: NodeJS.Signals | null, errorText: string): TracerProblem {
  const how = signal === null ? `with status ${code ?? 0}` : `by ${signal}`;
  const last = errorText.trim().split('\n').at(-1) ?? '';
  return failure(`The tracer ended ${how}${last === '' ? '' : `: ${last.replace(/\.$/, '')}`}.`);
}
