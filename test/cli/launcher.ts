// Runs the built command line in a place of its own.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

/** Above the folder that this is bundled into, however deep that is. */
function repository(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : repository(dirname(folder));
}

export const root = repository(__dirname);
export const dist = join(root, 'dist');
const simulator = join(root, 'build/simulator');
/** The variables of programs that find the simulated GPU as they would find a real one. */
export const SIMULATED = {
  LD_LIBRARY_PATH: simulator,
  GPU_MEMTRACE_CUPTI: join(simulator, 'libcupti.so.13'),
  GPU_MEMTRACE_SIMULATOR: simulator,
};
export const workload = (name: string): string => join(root, 'test/workloads', `${name}.py`);
export const python = process.env.PYTHON ?? 'python3';

export interface Ended {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  pid: number;
  ended: Promise<Ended>;
  /** Resolves once this was printed, on stdout or on stderr. */
  printedText(text: string): Promise<void>;
  /** The same for a pattern; gives what it matched. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

/** A command whose output is read on one side only. */
export interface Unread {
  child: ChildProcess;
  ended: Promise<number | null>;
  text(): string;
}

/** What has not come by then hangs, however busy the machine is. */
export const HANG_MS = 180_000;

/** Waits for what will come. */
export async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + HANG_MS; !condition(); await new Promise(done => setTimeout(done, 10)))
    if (Date.now() > end) throw new Error(`Never came: ${condition.toString()}`);
}
/** The process waits for room in what Node.js calls a pipe. */
export const hangs = (pid: number | undefined): boolean =>
  readFileSync(`/proc/${pid}/wchan`, 'utf8').startsWith('sock_alloc_send');

/** It waits for something to happen: what was written to it has been read. */
export const sleeps = (pid: number | undefined): boolean =>
  /ep_poll|epoll_wait/.test(readFileSync(`/proc/${pid}/wchan`, 'utf8'));

/** Ends a process or, for a negative number, its group; one that is gone already is no fault. */
export function kill(pid: number): void {
  if (pid) spawnSync('kill', ['-KILL', '--', String(pid)]); // 0 would be the group of the test itself
}

/** A folder that is gone after the test; traces are recorded and kept below it. */
export class Place {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  private cli = join(dist, 'cli.js');
  private readonly stops: (() => void)[] = [];

  constructor(t: TestContext) {
    this.folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-test-'));
    t.after(() => this.leave());
    this.env = { ...process.env, XDG_RUNTIME_DIR: this.path('run'), XDG_CACHE_HOME: this.path('cache') };
    for (const name of ['run', 'cache']) mkdirSync(this.path(name), { mode: 0o700 });
  }

  /** What still runs when the test is over is stopped before the folder goes. */
  atEnd(stop: () => void): void {
    this.stops.push(stop);
  }

  /** A hook that throws keeps those behind it from running, and what they would have stopped keeps the file from ending. */
  private leave(): void {
    for (const stop of this.stops) stop();
    try {
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    } catch (error) {
      process.stderr.write(`${this.folder} is left: ${String(error)}\n`);
    }
  }

  /** The words that run the command line. */
  get command(): string[] {
    return [process.execPath, this.cli];
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  write(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  /** From here on the command line has another tracer than the one that was built, or none. Gives its place. */
  withTracer(): string {
    mkdirSync(this.path('build'));
    symlinkSync(simulator, this.path('build/simulator'));
    return this.installed();
  }

  /** From here on the command line is that of a package, which no checkout is around. Gives the place of its tracer, which it lacks. */
  installed(): string {
    mkdirSync(this.path('dist/native'), { recursive: true });
    for (const name of ['gpu_memory_trace.node', 'gpu-memtrace-recorder', 'libgpumemtrace.so'])
      symlinkSync(join(dist, 'native', name), this.path('dist/native', name));
    this.cli = this.path('dist/cli.js');
    copyFileSync(join(dist, 'cli.js'), this.cli);
    return this.path('dist/native/gpu-memtrace-uprobe');
  }

  readJson<T>(name: string): T {
    return JSON.parse(readFileSync(this.path(name), 'utf8')) as T;
  }

  start(words: string[], env: NodeJS.ProcessEnv = {}): Started {
    const child = spawn(process.execPath, [this.cli, ...words], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    // A test that fails leaves nothing that runs on.
    this.atEnd(() => {
      if (child.exitCode === null) kill(-(child.pid ?? 0));
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const ended = new Promise<Ended>(done =>
      child.once('close', (status, signal) => done({ status, signal, ...output })),
    );
    const printed = async (pattern: RegExp): Promise<RegExpExecArray> => {
      for (const end = Date.now() + HANG_MS; ; await new Promise(done => setTimeout(done, 20))) {
        const match = pattern.exec(output.stdout) ?? pattern.exec(output.stderr);
        if (match !== null) return match;
        if (Date.now() > end || child.exitCode !== null)
          throw new Error(`No ${pattern} came.\n${output.stdout}\n${output.stderr}`);
      }
    };
    const printedText = async (text: string): Promise<void> => {
      await printed(new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
    };
    return { pid: child.pid ?? 0, ended, printedText, printed };
  }

  /** Starts a command whose output to `full` nothing reads: once there is no more room it hangs there. */
  startUnread(words: string[], full: 'stdout' | 'stderr'): Unread {
    const child = spawn(process.execPath, [this.cli, ...words], {
      cwd: this.folder,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.atEnd(() => kill(-(child.pid ?? 0)));
    let text = '';
    (full === 'stdout' ? child.stderr : child.stdout).setEncoding('utf8').on('data', (more: string) => (text += more));
    return { child, ended: new Promise(done => child.once('exit', done)), text: () => text };
  }

  run(words: string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    return this.start(words, env).ended;
  }

  /** Traces a command on the simulated GPU; the report is the JSON document. */
  async trace(command: string[], env: NodeJS.ProcessEnv = {}): Promise<Ended & { report: Report }> {
    const words = ['run', '--simulate-gpu', '--format', 'none', '-o', this.path('t.gputrace')];
    const ended = await this.run([...words, '--report', this.path('report.json'), '--', ...command], env);
    return { ...ended, report: this.readJson<Report>('report.json') };
  }
}

/** What the tests read of the JSON document. */
export interface Report {
  version: number;
  lost: { events: number; byCause: Record<string, number> };
  processes: {
    pid: number;
    parentPid: number;
    uid: number;
    command: string[];
    exitCode: number | null;
    notes: string[];
    threads: { tid: number; name: string }[];
  }[];
  devices: { index: number; name: string; totalBytes: number }[];
  totals: {
    pid: number;
    device: number;
    layer: string;
    liveBytes: number;
    peakBytes: number;
    allocations: number;
    frees: number;
    failed: number;
  }[];
  allocations: {
    address: string;
    bytes: number;
    device: number;
    pid: number;
    tid: number;
    thread: string;
    layer: string;
    ageSeconds: number;
    site: number;
  }[];
  sites: {
    id: number;
    layer: string;
    liveBytes: number;
    liveCount: number;
    userFrame: Frame | null;
    frames: Frame[];
  }[];
  oom: { requestedBytes: number; device: number; layer: string; pid: number; tid: number; site: number }[];
}
export interface Frame {
  file: string;
  line: number;
  function: string;
}

/** The head of a script that talks to the driver alone: `alloc(bytes)` and `free(address)` are its whole world. */
export const DRIVER_SCRIPT = `import ctypes, os, signal, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
def check(status):
    if status: raise RuntimeError("CUDA error %d" % status)
device, context = ctypes.c_int(), ctypes.c_void_p()
check(cuda.cuInit(0))
check(cuda.cuDeviceGet(ctypes.byref(device), 0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
check(cuda.cuCtxSetCurrent(context))
def alloc(size):
    address = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)))
    return address.value
def free(address):
    check(cuda.cuMemFree_v2(ctypes.c_uint64(address)))
`;
/** What may follow it: 40 steps, each of which keeps 512 KB, 20 MB in all. */
export const LEAKY_STEPS = `kept = []
for step in range(40):
    kept.append(alloc(512 << 10))
    free(alloc(4096))
    time.sleep(0.005)
`;
/** The line that follows DRIVER_SCRIPT. */
export const FIRST_LINE = DRIVER_SCRIPT.split('\n').length;
