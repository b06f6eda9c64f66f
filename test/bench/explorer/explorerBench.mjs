// The Explorer in a real VS Code on a trace with many events: node test/bench/explorer/explorerBench.mjs TRACE.gputrace
// Only some of its parts: BENCH_PARTS=latency,storm; BENCH_PROFILE=FILE.cpuprofile shows what the thread did in the storm.
// Part `delay`: BENCH_BIG=FILE.gputrace is opened, BENCH_BACKLOG=FOLDER, a trace directory, is read (`saved_bench`, test/bench/native/saved_bench.cpp).
// Such a trace: gpu-memtrace run --simulate-gpu -o many.gputrace -- python3 test/bench/explorer/many.py
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { runInWindow } from '../../host/runInCode.mjs';
import { bundle } from '../../project/build.mjs';
import { inRoot } from '../../project/root.mjs';

await bundle('--production');
const out = inRoot('build/test/bench/window.js');
await esbuild.build({
  entryPoints: [inRoot('test/bench/explorer/measuredInWindow.ts')],
  outfile: out,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  external: ['vscode'],
});
const storm = inRoot('build/test/bench/storm');
const compiled = spawnSync('c++', ['-O2', '-std=c++20', '-o', storm, inRoot('test/bench/explorer/storm.cpp'), '-ldl']);
if (compiled.status !== 0) throw new Error(String(compiled.stderr));
const code = await runInWindow(out, {
  BENCH_TRACE: resolve(process.argv[2]),
  BENCH_STORM: storm,
  BENCH_SMALL: inRoot('test/golden/trace/steps.gputrace'),
});
if (code !== 0) console.error(String(code));
process.exit(code === 0 ? 0 : 1);
