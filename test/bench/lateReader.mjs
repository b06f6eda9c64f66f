// How soon a reader that begins now shows a job that runs: node test/bench/lateReader.mjs [MILLIONS_OF_EVENTS] [EVENTS_PER_SECOND]
// A training (saved_bench live) with a recorder beside it; readers, each in a fresh process, while it runs and once it pauses.
import { build } from 'esbuild';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inRoot } from '../project/root.mjs';

const judge = inRoot('build/bench/judge.cjs');

/** Opens, reads all, and asks what the editor's page asks first. */
async function read(directory) {
  const { judgeTrace } = await import(judge).then(module => module.default);
  const module = { exports: {} };
  process.dlopen(module, inRoot('dist/native/gpu_memory_trace.node'));
  const [begun, before] = [performance.now(), process.cpuUsage()];
  const session = module.exports.open(directory);
  const opened = performance.now();
  await session.settle();
  const settled = performance.now();
  const info = session.info();
  session.sites({ layer: 'tensor', groupBy: 'line', sort: 'liveBytes', descending: true, from: 0, to: 50 });
  session.timeline({ series: 'tensor', fromNs: 0, toNs: info.durationNs, buckets: 1000 });
  const { findings } = judgeTrace(session);
  const done = performance.now();
  const ms = (from, to) => Math.round(to - from);
  const { user, system } = process.cpuUsage(before);
  console.log(
    JSON.stringify({
      ...{ events: info.events, open: ms(begun, opened), read: ms(opened, settled), ask: ms(settled, done) },
      ...{ all: ms(begun, done), processorMs: Math.round((user + system) / 1000), findings: findings.length },
    }),
  );
  session.close();
}

async function measure(millions, rate) {
  await build({
    entryPoints: [inRoot('extension/analysis/findings/judgeTrace.ts')],
    outfile: judge,
    bundle: true,
    platform: 'node',
  });
  const directory = mkdtempSync(join(tmpdir(), 'gpu-memtrace-reload-'));
  const job = spawn(inRoot('build/native/test/bench/saved_bench'), ['live', directory, millions, rate]);
  const recorder = spawn(inRoot('dist/native/gpu-memtrace-recorder'), [directory], { stdio: 'inherit' });
  const reader = when => {
    const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), 'read', directory]);
    console.log(when, String(stdout).trim(), String(stderr).trim());
  };
  let written = false;
  job.stdout.once('data', () => (written = true));
  while (!written) {
    await new Promise(done => setTimeout(done, 2_500));
    if (!written) reader('running');
  }
  const ticks = readFileSync(`/proc/${recorder.pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13);
  console.log(`the recorder took ${(Number(ticks[0]) + Number(ticks[1])) / 100} s of processor time`);
  for (let i = 0; i < 5; i++) {
    await new Promise(done => setTimeout(done, 500));
    reader('paused ');
  }
  job.stdin.end();
  await once(recorder, 'exit');
  rmSync(directory, { recursive: true });
}

const [first = '100', second = '2e6'] = process.argv.slice(2);
await (first === 'read' ? read(second) : measure(first, second));
