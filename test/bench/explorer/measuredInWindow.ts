// What is measured inside VS Code; run by explorerBench.mjs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import * as vscode from 'vscode';
import { PAGE, reached, trace, workspace, writeScript } from '../../host/pageActions';
import { drive, rows, until } from '../../host/window';

const ROW = '[data-row]';
const LINES = 40;
const STORM_S = 20;
const results: Record<string, string> = {};

const pause = (milliseconds: number): Promise<void> => new Promise(done => setTimeout(done, milliseconds));

/** CPU milliseconds of this process's main thread, on which extensions run. */
function threadCpuMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

async function opening(name: string, file: string): Promise<void> {
  for (const round of ['first', 'again', 'third']) {
    const began = Date.now();
    await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(file), 'gpuMemoryTrace.savedTrace');
    await until('rows', async () => (await rows(100)).length > 0, 60_000);
    const shown = Date.now() - began;
    const painted = (await drive<number>('painted', { selector: ROW })) - began;
    results[`open ${name}, ${round}: first paint, then rows (to 50 ms)`] = `${painted.toFixed(0)} ms, ${shown} ms`;
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  }
}

/** Each line allocates more than those before it, so its row stands first. */
async function latency(): Promise<void> {
  const times = join(workspace, 'times.json');
  const lines = Array.from(
    { length: LINES },
    (_, i) => `mark(); allocate(ctypes.byref(address), ctypes.c_size_t(${(i + 1) * 65536})); time.sleep(0.27)`,
  );
  const head = `import json
times = []
def mark(): times.append(time.time() * 1000)
time.sleep(3)
`;
  const tail = `\njson.dump(times, open(${JSON.stringify(times)}, "w"))\n`;
  const file = writeScript('latency.py', head + lines.join('\n') + tail);
  await trace(file);
  await reached('starting').catch(() => undefined);
  await until('a row', async () => (await rows(100)).length > 0, 30_000);
  await drive('watchRows', { selector: PAGE });
  await reached('ended');
  const seen = await drive<Record<string, number>>('seen', { selector: PAGE });
  const at = JSON.parse(readFileSync(times, 'utf8')) as number[];
  const first =
    readFileSync(file, 'utf8')
      .split('\n')
      .findIndex(line => line.startsWith('mark();')) + 1;
  const delays = at
    .map((time, i) => (seen[first + i] ?? NaN) - time)
    .slice(2)
    .sort((a, b) => a - b);
  const part = (share: number): string => delays[Math.floor((delays.length - 1) * share)]?.toFixed(0) ?? '?';
  results['event to painted row'] = `p50 ${part(0.5)} ms, p95 ${part(0.95)} ms, most ${part(1)} ms (${delays.length})`;
}

/** Percent of the time of so many seconds in which this thread runs. */
async function busy(seconds: number): Promise<number> {
  const [began, cpu] = [performance.now(), threadCpuMs()];
  await pause(seconds * 1000);
  return ((threadCpuMs() - cpu) / (performance.now() - began)) * 100;
}

/** Runs `what`; with BENCH_PROFILE a CPU profile of this thread meanwhile goes to that file. */
async function profiled(what: () => Promise<void>): Promise<void> {
  const file = process.env.BENCH_PROFILE;
  if (!file) return what();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  await what();
  writeFileSync(file, JSON.stringify((await session.post('Profiler.stop')).profile));
  session.disconnect();
}

async function storm(): Promise<void> {
  const restShare = await busy(5);
  const program = process.env.BENCH_STORM ?? '';
  const file = join(workspace, 'storm.py');
  writeFileSync(file, `import subprocess\nsubprocess.run([${JSON.stringify(program)}, "1e6", "${STORM_S}"])\n`);
  await trace(file);
  await reached('running');
  await pause(3_000);
  let share = NaN;
  await profiled(async () => {
    share = await busy(STORM_S - 8);
  });
  results["extension host's thread at 1 M events/s"] = `${share.toFixed(1)} % busy, ${restShare.toFixed(1)} % before`;
  await until('the end', () => reached('ended').then(() => true), 60_000);
}

/** What VS Code itself measured, in which others may have run; and the processor time of reading the code alone. */
async function activation(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.showRuntimeExtensions');
  const names = await drive<string[]>('texts', { selector: '.runtime-extensions-editor .extension' });
  const own = names.find(text => text.startsWith('gpu-memory-trace.'));
  // The list begins with the slowest and shows as many as there is room for.
  const time = (text = ''): string | undefined => /Activation: (.*)/.exec(text)?.[1];
  results.activation =
    time(own) ?? `not among the slowest ${names.length}; the last of them took ${time(names.at(-1))}`;
  await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  const code = vscode.extensions.all.find(({ id }) => id.startsWith('gpu-memory-trace.'))?.extensionPath ?? '';
  for (const file of ['extension.js', 'parts.js']) {
    const copy = join(workspace, file);
    writeFileSync(copy, `${readFileSync(join(code, 'dist', file), 'utf8')}\n// not known to the engine's cache`);
    const began = threadCpuMs();
    createRequire(copy)(copy);
    results[`reading ${file}`] = `${(threadCpuMs() - began).toFixed(1)} ms of CPU`;
  }
}

/** What the scripts of the page hold while the big trace is shown and its table was scrolled from end to end. */
async function heap(): Promise<void> {
  const file = process.env.BENCH_TRACE ?? '';
  const before = await drive<{ bytes: number; shared: boolean }>('heap', { selector: 'body' });
  await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(file), 'gpuMemoryTrace.savedTrace');
  await until('rows', async () => (await rows(100)).length > 0, 60_000);
  await pause(5_000);
  for (let i = 0; i < 40; i++) await drive('wheel', { selector: ROW, at: 0.5, by: 5_000 });
  await pause(2_000);
  const { bytes, shared } = await drive<{ bytes: number; shared: boolean }>('heap', { selector: ROW });
  const megabytes = (of: number): string => `${(of / 1e6).toFixed(1)} MB`;
  results['heap of the page'] =
    `${megabytes(bytes)}${shared ? ` with the window, ${megabytes(before.bytes)} before` : ''}`;
  await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
}

/** Resident megabytes of this process, and of the engine's, where there is one. */
function memory(): string {
  const about = (pid: string | number, file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8');
  const megabytes = (pid: string | number): string => {
    const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(about(pid, 'status'))?.[1] ?? NaN);
    return (kilobytes / 1024).toFixed(0);
  };
  const isEngine = (pid: string): boolean => {
    try {
      return (
        about(pid, 'cmdline').includes('dist/engine.js') && about(pid, 'status').includes(`PPid:\t${process.pid}\n`)
      );
    } catch {
      return false; // it has ended
    }
  };
  const engine = readdirSync('/proc').find(name => /^\d+$/.test(name) && isEngine(name));
  return `host ${megabytes(process.pid)} MB, engine ${engine === undefined ? 'none' : `${megabytes(engine)} MB`}`;
}

/** Processor time of this thread, ms; node:process of VS Code's Node.js has it, the types that are built with do not. */
function ownCpuMs(): number {
  const { user, system } = (process as unknown as { threadCpuUsage(): NodeJS.CpuUsage }).threadCpuUsage();
  return (user + system) / 1e3;
}

/**
 * How late this process's event loop runs what is due while `what` goes on, and the processor time from one turn of a timer to the next: that
 * is what the thread itself does, however busy the machine is.
 */
async function delayed(name: string, what: () => Promise<unknown>): Promise<void> {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  const turns: number[] = [];
  let before = ownCpuMs();
  const timer = setInterval(() => {
    const now = ownCpuMs();
    turns.push(now - before);
    before = now;
  }, 1);
  loop.enable();
  await what();
  loop.disable();
  clearInterval(timer);
  turns.sort((a, b) => a - b);
  const ms = (nanoseconds: number): string => (nanoseconds / 1e6).toFixed(1);
  const parts = [50, 99].map(part => `p${part} ${ms(loop.percentile(part))}`);
  const own = [0.5, 0.99, 1].map(part => turns[Math.floor((turns.length - 1) * part)]?.toFixed(1));
  results[`event loop, ${name}`] =
    `${parts.join(', ')}, most ${ms(loop.max)} ms; own work ${own.join(', ')} ms; ${memory()}`;
}

/** The host's event loop at rest, while a program is read at half a million events a second, while what ran before is read, and while a file opens. */
async function delay(): Promise<void> {
  await delayed('at rest', () => pause(5_000));
  const file = join(workspace, 'storm.py');
  const storm = process.env.BENCH_STORM ?? '';
  writeFileSync(file, `import subprocess\nsubprocess.run([${JSON.stringify(storm)}, "5e5", "${STORM_S}"])\n`);
  await trace(file);
  await reached('running');
  await delayed('0.5 M events/s', () => pause((STORM_S - 3) * 1_000));
  await until('the end', () => reached('ended').then(() => true), 60_000);
  for (const [name, path = ''] of [
    ['a backlog', process.env.BENCH_BACKLOG],
    ['the big trace opens', process.env.BENCH_BIG],
  ] as const) {
    if (path === '') continue;
    const began = performance.now();
    await delayed(name, async () => {
      await vscode.commands.executeCommand('gpuMemoryTrace.openTrace', vscode.Uri.file(path));
      await until('rows', async () => (await rows(100)).length > 0, 120_000);
    });
    results[`${name}: until its rows are seen`] = `${(performance.now() - began).toFixed(0)} ms`;
  }
}

/** Pictures of a program that allocates all the time, in a second. */
async function pictures(): Promise<void> {
  const file = writeScript(
    'pictures.py',
    `while True:
    allocate(ctypes.byref(address), ctypes.c_size_t(12345))
    time.sleep(0.002)
`,
  );
  await trace(file);
  await reached('running');
  await until('a row', async () => (await rows(100)).length > 0, 30_000);
  await drive('watchTexts', { selector: PAGE, selectors: ['[data-value=live]'] });
  const before = (await drive<string[][]>('watched', { selector: PAGE })).length;
  await pause(10_000);
  const count = (await drive<string[][]>('watched', { selector: PAGE })).length - before;
  results['pictures a second'] = (count / 10).toFixed(1);
  await vscode.commands.executeCommand('gpuMemoryTrace.stop');
  await reached('ended');
}

const PARTS: Record<string, () => Promise<void>> = {
  activation,
  open: async () => {
    await opening('a small trace', process.env.BENCH_SMALL ?? '');
    await opening('the big trace', process.env.BENCH_TRACE ?? '');
  },
  heap,
  latency,
  pictures,
  delay,
  storm,
};

export async function run(): Promise<void> {
  const only = process.env.BENCH_PARTS?.split(',') ?? Object.keys(PARTS);
  for (const name of only) {
    await vscode.commands.executeCommand('gpuMemoryTrace.explorer.focus');
    await PARTS[name]?.().catch((error: unknown) => (results[name] = String(error)));
  }
  console.table(results);
  console.log(`${Object.keys(results).length} passing`); // a summary as mocha's, which tells the window's runner that all ran
}
