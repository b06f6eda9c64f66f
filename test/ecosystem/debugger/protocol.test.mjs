// A real debugpy, spoken to by its protocol, starts programs with the variables of a trace.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { build } from 'esbuild';
import { inRoot } from '../../project/root.mjs';
import { simulated, simulator } from '../../simulator/variables.mjs';
import { Debugger } from './adapter.mjs';

const MB = 1 << 20;
const addon = createRequire(import.meta.url)(inRoot('dist/native/gpu_memory_trace.node'));
const job = inRoot('test/ecosystem/debugger/debugged.py');
const parent = inRoot('test/ecosystem/debugger/debugged_parent.py');
const lineOf = (file, text) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .findIndex(line => line.includes(text)) + 1;
const STOP = lineOf(job, 'print("round"');
const BORN = lineOf(job, 'kept.append');
const made = mkdtempSync(join(tmpdir(), 'gpu-memtrace-debugger-'));
after(() => rmSync(made, { recursive: true, force: true }));

/** A trace that waits for its program. */
function newTrace() {
  const directory = mkdtempSync(join(made, 'trace-'));
  addon.setRecording(directory, true);
  return directory;
}

/** What the extension gives a debugger's configuration as `env`. */
async function traced(directory) {
  const outfile = join(made, 'environment.mjs');
  const entryPoints = [inRoot('extension/capture/launch/environment.ts')];
  await build({ entryPoints, bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'silent' });
  const { traceVariables } = await import(outfile);
  const dist = inRoot('dist');
  const cupti = simulated.GPU_MEMTRACE_CUPTI;
  const how = { dist, traceDirectory: directory, cupti, budgetBytes: null, lean: false };
  return { ...simulated, ...traceVariables(process.env, how) };
}

/** Debugs a program until it comes to one of `lines`; with a trace in `directory`, null: without one. */
async function debug(program, lines, directory) {
  const session = Debugger.start(process.env.GMT_TORCH_PYTHON, { ...process.env, PYTHONPATH: process.env.GMT_DEBUGPY });
  const untraced = { LD_LIBRARY_PATH: simulator }; // the stand-in's driver
  const env = {
    ...(directory === null ? untraced : await traced(directory)),
    PYTHONPATH: `${process.env.PYTHONPATH}:${process.env.GMT_DEBUGPY}`,
  };
  await session.launch({ program, env, cwd: made, console: 'internalConsole', subProcess: true }, program, lines);
  return session;
}

/** The session of the next child of a program that is debugged. */
async function attached(session, path, lines) {
  const how = await session.event('debugpyAttach');
  const child = await Debugger.connect(how.connect);
  await child.launch(how, path, lines);
  return child;
}

/** What is alive in the trace, as all that was written says. */
async function alive(trace) {
  await trace.settle();
  return trace.info().totals.reduce((sum, { layer, liveBytes }) => sum + (layer === 'tensor' ? liveBytes : 0), 0);
}

/** What the program evaluates where it stands. */
async function evaluated(session, threadId, expression) {
  const { stackFrames } = await session.ask('stackTrace', { threadId });
  return (await session.ask('evaluate', { expression, frameId: stackFrames[0].id, context: 'watch' })).result;
}

/** Asks the program who holds a block. */
async function holderOf(trace, directory, address) {
  const [{ bytes, device }] = trace.blocks({ process: 0, addresses: [address] });
  const { pid } = trace.info().processes[0];
  const addresses = [[`0x${address.toString(16)}`, bytes, device, []]];
  writeFileSync(join(directory, 'draft'), JSON.stringify({ id: 1, pid, do: 'holders', addresses, budgetMs: 500 }));
  renameSync(join(directory, 'draft'), join(directory, 'request-1.json'));
  for (;;) {
    await trace.settle();
    const found = trace.info().answers.find(({ request, complete }) => request === 1 && complete);
    if (found) return JSON.parse(trace.answer({ process: 0, index: found.index }).text).holders[0];
    await new Promise(done => setTimeout(done, 20));
  }
}

/** Lets the program run to its end; its exit status. */
async function toEnd(session) {
  const { exitCode } = await session.event('exited');
  await session.event('terminated');
  await session.leave();
  return exitCode;
}

test('at a breakpoint the trace has what PyTorch has, with lines and holders; the program ends as without it', async () => {
  const directory = newTrace();
  const session = await debug(job, [STOP], directory);
  const trace = addon.open(directory);
  for (let round = 1; round <= 3; round++) {
    const { threadId } = await session.event('stopped');
    const torch = Number(await evaluated(session, threadId, '__import__("as_gpu").allocated_bytes()'));
    assert.equal(torch, (4 * round + 1) * MB);
    assert.equal(await alive(trace), torch);
    const address = BigInt(await evaluated(session, threadId, 'part.untyped_storage().data_ptr()'));
    const [block] = trace.blocks({ process: 0, addresses: [address] });
    assert.equal(block.bytes, 4 * MB);
    assert.equal(trace.site(block.site).frames[0].line, BORN);
    if (round === 2) assert.equal((await holderOf(trace, directory, address)).path, '__main__.part');
    await session.ask('continue', { threadId });
  }
  const status = await toEnd(session);
  const plain = await debug(job, [], null);
  assert.deepEqual([status, session.output()], [await toEnd(plain), plain.output()]);
  assert.equal(status, 3);
  await trace.settle();
  const file = join(made, 'debugged.gputrace');
  await trace.save(file, '{"version": 1, "command": ["debugged"]}');
  trace.close();
  const saved = addon.open(file);
  await saved.settle();
  const info = saved.info();
  assert.deepEqual([info.processes.length, info.lost.events], [1, 0]);
  assert.equal(info.totals.find(({ layer }) => layer === 'tensor').peakBytes, 13 * MB);
  saved.close();
});

test('a child that is debugged by a session of its own is a process of the same trace', async () => {
  const directory = newTrace();
  const session = await debug(parent, [], directory);
  const child = await attached(session, parent, [lineOf(parent, 'print("child"')]);
  const { threadId } = await child.event('stopped');
  const trace = addon.open(directory);
  assert.equal(await alive(trace), 2 * MB + 8 * MB);
  const { systemProcessId } = await child.event('process');
  const pids = trace.info().processes.map(({ pid }) => pid);
  assert.deepEqual([pids.length, pids.includes(systemProcessId)], [2, true]);
  await child.ask('continue', { threadId });
  await child.event('terminated');
  await child.leave();
  assert.equal(await toEnd(session), 0);
  assert.match(session.output(), /^child 8388608$/m);
  trace.close();
});
