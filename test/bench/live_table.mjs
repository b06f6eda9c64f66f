// How long a run's report takes behind the program's end, and how long its saved trace takes to open, by depth of the stacks and by threads.
//   node test/bench/live_table.mjs [events, 100000]
// Simulated driver. It is linear where neither rises with depth or threads.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRoot } from '../project/root.mjs';

const events = Number(process.argv[2] ?? 100_000);
const PROGRAM = `
import sys, threading, time
sys.path.insert(0, ${JSON.stringify(inRoot('test/workloads'))})
import gpu
depth, threads, events = map(int, sys.argv[1:])
sys.setrecursionlimit(10_000)
threading.stack_size(64 << 20)

def down(left, work):
    return down(left - 1, work) if left > 0 else work()

def work():
    kept = []
    for number in range(events // threads // 2):
        block = gpu.empty(1024)
        if number % 50 == 0:
            kept.append(block)

begun = time.time()
for _ in [0]:
    all = [threading.Thread(target=down, args=(depth, work)) for _ in range(threads)]
    for each in all: each.start()
    for each in all: each.join()
print(repr((time.time() - begun, time.time())))
`;

function measure(folder, depth, threads) {
  const trace = join(folder, `${depth}-${threads}.gputrace`);
  const program = ['python3', join(folder, 'program.py'), depth, threads, events].map(String);
  const words = ['run', '--simulate-gpu', '-o', trace, '--', ...program];
  const run = spawnSync(process.execPath, [inRoot('dist/cli.js'), ...words], { encoding: 'utf8' });
  const ended = Date.now() / 1000;
  const [, took, at] = /\(([\d.]+), ([\d.]+)\)/.exec(run.stdout) ?? [];
  if (run.status !== 0 || at === undefined) throw new Error(run.stderr);
  const opened = spawnSync(
    '/usr/bin/env',
    ['time', '-f', '%U %S', process.execPath, inRoot('dist/cli.js'), 'report', trace],
    {
      encoding: 'utf8',
    },
  );
  const [user, system] = opened.stderr.trim().split('\n').at(-1).split(' ').map(Number);
  const counted = /^([\d,]+) events/m.exec(opened.stdout)?.[1];
  return [
    depth,
    threads,
    counted,
    Number(took).toFixed(1),
    (ended - Number(at)).toFixed(1),
    (user + system).toFixed(1),
  ];
}

const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-bench-'));
try {
  writeFileSync(join(folder, 'program.py'), PROGRAM);
  console.log('| depth | threads | events | program s | report behind its end s | `report` processor s |');
  console.log('|---:|---:|---:|---:|---:|---:|');
  for (const [depth, threads] of [
    [10, 1],
    [60, 1],
    [126, 1],
    [300, 1],
    [500, 1],
    [10, 10],
    [10, 100],
    [10, 1000],
  ])
    console.log(`| ${measure(folder, depth, threads).join(' | ')} |`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
