// Stored traces, and programs that are played, folded by the recorder at random places (`recorder_tests --fold`): what is told
// of them stays as it was.
// GPU_MEMTRACE_ROUNDS folds each so often, from GPU_MEMTRACE_SEED on.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { judgeTrace } from '../../extension/analysis/findings/judgeTrace';
import { loadNative, type NativeAddon } from '../../extension/native/addon';
import { LAYERS, type TraceSource } from '../../extension/protocol/trace';
import { LONG } from '../long.mjs';
import { LogFile } from '../unit/addon/logFile';
import { CLEAN } from '../unit/runs/clean';
import { generated, playGenerated } from '../unit/runs/generated';
import { LEAKS } from '../unit/runs/leaking';
import { LoggedRun } from '../unit/runs/loggedRun';
import { play } from '../unit/runs/program';
import { wholeReport } from '../unit/wholeReport';

const ROUNDS = Number(process.env.GPU_MEMTRACE_ROUNDS ?? 1);
const SEED = Number(process.env.GPU_MEMTRACE_SEED ?? Date.now() % 1e6);
const root = resolve(__dirname, '../../..');
const stored = ['leaks', 'trace'].flatMap(kind =>
  readdirSync(join(root, 'test/golden', kind))
    .filter(name => /\.gputrace(\.gz)?$/.test(name))
    .map(name => join(root, 'test/golden', kind, name)),
);
let folder = '';

before(() => (folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-folded-'))));
after(() => rmSync(folder, { recursive: true, force: true }));

function addon(): NativeAddon {
  const loaded = loadNative(join(root, 'dist'));
  if ('error' in loaded) throw new Error(loaded.error);
  return loaded.addon;
}

/** All that is told of a trace: its report, its verdicts, and the series of each site and ledger. */
function told(source: TraceSource) {
  const info = source.info();
  const verdicts = judgeTrace(source);
  const all = { points: 10_000, from: 0, to: 100_000 };
  const series = info.processes.flatMap((_, process) =>
    LAYERS.map(layer => source.siteSeries({ process, layer, ...all })),
  );
  const ledgers = info.processes.flatMap((_, process) =>
    info.devices.map(({ index }) => source.ledgerSeries({ process, device: index, points: all.points })),
  );
  return { report: wholeReport(source, 'line', verdicts), verdicts, series, ledgers };
}

async function toldOf(trace: string) {
  const session = addon().open(trace);
  await session.settle();
  try {
    return JSON.parse(
      JSON.stringify(told(session), (key, value: unknown) =>
        key === 'revision'
          ? undefined
          : value instanceof Map
            ? [...value]
            : value instanceof Float64Array
              ? [...value].map(String)
              : value,
      ),
    ) as ReturnType<typeof told>;
  } finally {
    session.close();
  }
}

/** Folds a trace so often and compares what is told of it. Gives how often events were gone. */
async function checkFolds(name: string, trace: string, rounds: number): Promise<number> {
  const whole = await toldOf(trace);
  const target = join(folder, `${name}.folded.gputrace`);
  let gaps = 0;
  for (let seed = SEED; seed < SEED + rounds; seed++) {
    const ran = spawnSync(
      join(root, 'build/native/test/native/recorder_tests'),
      ['--fold', trace, target, String(seed)],
      {
        encoding: 'utf8',
      },
    );
    const how = `${name}, GPU_MEMTRACE_SEED=${seed}`;
    assert.equal(ran.status, 0, `${how}: ${ran.stderr}`);
    if (ran.stdout === 'gap\n') gaps++;
    assert.deepEqual(await toldOf(target), whole, how);
  }
  return gaps;
}

/** Plays into a log, and folds that. */
async function checkPlayed(name: string, into: (run: LoggedRun) => void): Promise<number> {
  const directory = join(folder, name);
  mkdirSync(directory, { mode: 0o700 });
  const log = new LogFile(directory);
  into(new LoggedRun(log));
  log.end();
  log.close();
  return checkFolds(name, directory, 1);
}

test('stored traces', async () => {
  let gaps = 0;
  const chosen = stored.filter((_, i) => LONG || i % 4 === SEED % 4); // other ones each time
  for (const file of chosen) {
    const name = file.replace(/^.*\/|\.gputrace.*$/g, '');
    const trace = join(folder, `${name}.gputrace`);
    writeFileSync(trace, file.endsWith('.gz') ? gunzipSync(readFileSync(file)) : readFileSync(file));
    gaps += await checkFolds(name, trace, ROUNDS);
  }
  assert.ok(gaps * 2 > chosen.length * ROUNDS, `most have events that are gone: ${gaps}`);
});

test('programs with and without a leak', async () => {
  const programs = [...LEAKS, ...CLEAN];
  let gaps = 0;
  for (let i = 0; i < 4 * ROUNDS; i++) {
    const program = programs[(SEED * 7 + i) % programs.length]!;
    gaps += await checkPlayed(`played${i}`, run => play(program, SEED + i, undefined, run));
  }
  assert.ok(gaps > 0);
});

test('generated programs', () => {
  let count = 0; // two may have one seed
  return fc.assert(
    fc.asyncProperty(generated, async made => {
      await checkPlayed(`generated${count++}-${made.seed}`, run => playGenerated(made, undefined, run));
    }),
    { numRuns: 4 * ROUNDS, seed: SEED, endOnFailure: true },
  );
});
