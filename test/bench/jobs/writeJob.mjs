// Writes the folder of a job of many ranks after a few that were recorded on the simulated GPU, with the product's own writers:
//   node test/bench/jobs/writeJob.mjs FOLDER RANKS [STEPS]
// Two devices a rank; eight ranks a host, four stages of a pipeline. One rank leaks, and on one host another process is on the GPUs.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { inRoot } from '../../project/root.mjs';

const { parquetChunks, TABLES } = createRequire(import.meta.url)(inRoot('dist/parquet.js'));
const NAMES = ['runs', 'ranks', 'steps', 'stacks', 'site_steps', 'findings', 'events'];
const [REAL, LEAKING] = [4, 3];
const DEVICES = 2;
/** Of the heat map, as a long run has them. */
const COLUMNS = 128;
const MB = 1 << 20;
const STEP_MS = 350;
/** The recorded ranks have a few hundred MB, those of a large job tens of GB. */
const LARGER = 100;

/** A program of 200 stacks in 100 lines, as many as a job's folder tells the steps of. The last of the ranks keeps one block a step. */
function writeScript(file) {
  const layers = Array.from(
    { length: 100 },
    (_, i) => `    each.append(gpu.empty(${65_536 * (1 + (i % 29))} * (1 + batch % 3)))`,
  );
  writeFileSync(
    file,
    `import os, random, sys, time
sys.path.insert(0, ${JSON.stringify(inRoot('test/workloads'))})
import gpu
def layers(batch):
    each = []
${layers.join('\n')}
    return each
random.seed(int(os.environ["RANK"]))
weights = layers(0)
kept = []
for step in range(300):
    activations = layers(random.randrange(3))
    if os.environ["RANK"] == "${LEAKING}": kept.append(gpu.empty(1 << 18))
    del activations
    time.sleep(0.004)
`,
  );
}

/** Records the ranks into the folder. */
function record(folder) {
  const script = join(folder, 'train.py');
  writeScript(script);
  const words = ['run', '--simulate-gpu', '--format', 'none', '-o', `${folder}/job/`, '--', 'python3', script];
  for (let rank = 0; rank < REAL; rank++) {
    const env = { ...process.env, RANK: rank, WORLD_SIZE: REAL, SLURM_JOB_ID: 'bench' };
    const { status, stderr } = spawnSync(process.execPath, [inRoot('dist/cli.js'), ...words], {
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
  }
}

/** {summary, tables: {name: rows}} of each recorded rank. */
async function readReal(folder) {
  const ranks = [];
  for (let rank = 0; rank < REAL; rank++) {
    const place = join(folder, 'job/run=bench', `rank=${rank}`);
    const names = readdirSync(place);
    const tables = {};
    for (const name of NAMES) {
      const file = await asyncBufferFromFile(
        join(
          place,
          names.find(each => each.startsWith(`${name}.`)),
        ),
      );
      tables[name] = (await parquetReadObjects({ file })).map(row => plainRow(TABLES[name], row));
    }
    const summary = JSON.parse(
      readFileSync(
        join(
          place,
          names.find(each => each.startsWith('summary.')),
        ),
        'utf8',
      ),
    );
    ranks.push({ summary, tables });
  }
  return ranks;
}

const plainRow = (columns, row) =>
  Object.fromEntries(
    Object.keys(columns).map(name => [name, row[name] instanceof Date ? row[name].getTime() : (row[name] ?? null)]),
  );

/** Numbers in 0 … 1, the same for the same seed. */
function chance(seed) {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What one rank of the job has, made of a recorded one. */
function rankOf(real, rank, { ranks, steps }) {
  const { summary: old, tables } = real[rank === leaking(ranks) ? LEAKING : rank % LEAKING];
  const random = chance(rank);
  // A few percent from rank to rank, and less from step to step; whole blocks of 512 bytes.
  const size = LARGER * (0.985 + 0.03 * random());
  const noisy = (bytes, part = 0.01) =>
    bytes === null ? null : Math.round((Number(bytes) * size * (1 - part / 2 + part * random())) / 512) * 512;
  const steady = bytes => (bytes === null ? null : noisy(bytes, 0));
  const host = `n${Math.floor(rank / 8)}`;
  const foreign = isVisited(host) ? 6_000 * MB : 0;
  const mesh = { pp: [rank % 4, 4], dp: [Math.floor(rank / 4), Math.ceil(ranks / 4)] };
  const who = { run: 'bench', rank, host, pid: 40_000 + rank };
  const { series } = old;
  const columns = Array.from({ length: COLUMNS }, (_, i) => i);
  const outside = 480 * MB;
  const pace = (LARGER * old.steps) / steps;
  const summary = {
    ...{ ...old, ...who, localRank: rank % 8, nodeRank: Math.floor(rank / 8), worldSize: ranks, mesh, steps },
    ...{
      gpu: `GPU-${rank}`,
      gpus: { 0: `GPU-${rank}` },
      totalBytes: 80_000 * MB,
      peakBytes: steady(old.peakBytes),
      trace: null,
    },
    durationSeconds: (steps * STEP_MS) / 1e3,
    lines: old.lines.map(line => ({
      ...line,
      peakBytes: steady(line.peakBytes),
      liveBytes: steady(line.liveBytes),
      bytesPerStep: line.bytesPerStep * pace,
    })),
    findings: old.findings.map(one => ({ ...one, bytes: steady(one.bytes), bytesPerStep: one.bytesPerStep * pace })),
    series: {
      last: columns.map(i => Math.round(((i + 1) * steps) / COLUMNS)),
      ...Object.fromEntries(
        ['peak', 'live', 'reserved'].map(name => [
          name,
          columns.map(i => noisy(series[name][Math.floor((i * series[name].length) / COLUMNS)])),
        ]),
      ),
      outside: columns.map(() => outside),
      foreign: columns.map(() => foreign),
    },
  };
  const told = { ...who, steps, world_size: ranks, peak_bytes: summary.peakBytes, mesh: JSON.stringify(mesh) };
  const place = {
    local_rank: rank % 8,
    node_rank: Math.floor(rank / 8),
    pp: mesh.pp[0],
    dp: mesh.dp[0],
    gpu: summary.gpu,
  };
  const bytesOf = row => ({
    ...Object.fromEntries(
      Object.entries(row)
        .filter(([name, value]) => /_bytes$/.test(name) && value !== null)
        .map(([name, bytes]) => [name, noisy(bytes)]),
    ),
  });
  const reach = Number(tables.site_steps.reduce((most, { step }) => Math.max(most, Number(step)), 1));
  return {
    summary,
    tables: {
      runs: tables.runs.map(row => ({ ...row, run: 'bench', world_size: ranks })),
      ranks: tables.ranks.map(row => ({
        ...row,
        ...told,
        ...place,
        total_bytes: summary.totalBytes,
        seconds: summary.durationSeconds,
      })),
      steps: stepRows(tables.steps, who, { steps, random, noisy, outside, foreign, startMs: old.startedMs }),
      stacks: tables.stacks.map(row => ({ ...row, ...bytesOf(row), ...who })),
      site_steps: tables.site_steps.map(row => ({
        ...{ ...row, ...bytesOf(row), ...who },
        ...{ first_step: Math.round((row.first_step * steps) / reach), step: Math.round((row.step * steps) / reach) },
      })),
      findings: tables.findings.map(row => ({
        ...{ ...row, ...who, bytes: steady(row.bytes), bytes_per_step: Math.round(Number(row.bytes_per_step) * pace) },
      })),
      events: Array.from({ length: 12 }, (_, i) => ({
        ...{ ...who, at: old.startedMs + i * 60_000 + random() * 1e3, at_ns: i * 60e9 + Math.floor(random() * 1e9) },
        ...{ kind: 'mark', device: null, bytes: null, text: `epoch ${i}` },
      })),
    },
  };
}

const leaking = ranks => Math.floor(ranks * 0.37);
const isVisited = host => host === 'n1';

function* stepRows(real, who, { steps, random, noisy, outside, foreign, startMs }) {
  for (let device = 0; device < DEVICES; device++) {
    let endNs = 2e9;
    for (let step = 1; step <= steps; step++) {
      const near = (step / steps) * (real.length - 1) + 3 * (random() - 0.5);
      const row = real[Math.min(real.length - 1, Math.max(0, Math.round(near)))];
      endNs += Math.round(STEP_MS * 1e6 * (0.97 + 0.06 * random()));
      const part = device === 0 ? 1 : 0.25;
      const [live, reserved] = [noisy(row.live_bytes) * part, LARGER * Number(row.reserved_bytes) * part];
      const own = reserved + outside;
      yield {
        ...{ ...who, device, first_step: step, step, ended_at: startMs + endNs / 1e6, end_ns: endNs },
        ...{ live_bytes: live, peak_bytes: Math.max(live, noisy(row.peak_bytes) * part), reserved_bytes: reserved },
        ...{ driver_bytes: reserved, host_bytes: 0, process_bytes: own, used_bytes: own + foreign },
        ...{ total_bytes: 80_000 * MB, flags: 0 },
      };
    }
  }
}

/** Every `count`th rank from `first` on. */
function writeRanks({ folder, real, first, count, job }) {
  for (let rank = first; rank < job.ranks; rank += count) {
    const { summary, tables } = rankOf(real, rank, job);
    const place = join(folder, 'run=bench', `rank=${rank}`);
    mkdirSync(place, { recursive: true });
    const name = `${summary.host}-${summary.pid}`;
    const facts = { lost: summary.lost, simulated: true };
    for (const table of NAMES)
      writeFileSync(
        join(place, `${table}.${name}.parquet`),
        Buffer.concat([...parquetChunks(TABLES[table], tables[table], { table, ...facts })]),
      );
    const file = join(place, `summary.${name}.json`);
    writeFileSync(file, JSON.stringify(summary));
    utimesSync(file, new Date(), new Date());
  }
}

async function main() {
  const [folder = '', ranks = '10', steps = '10000'] = process.argv.slice(2);
  const job = { ranks: Number(ranks), steps: Number(steps) };
  const place = resolve(folder);
  const recorded = inRoot('build/bench/jobs');
  rmSync(place, { recursive: true, force: true });
  rmSync(recorded, { recursive: true, force: true });
  mkdirSync(recorded, { recursive: true });
  record(recorded);
  const real = await readReal(recorded);
  const count = Math.min(availableParallelism(), job.ranks);
  const wait = Array.from({ length: count }, (_, first) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { folder: place, real, first, count, job } });
    return new Promise((done, fail) => worker.on('error', fail).on('exit', done));
  });
  await Promise.all(wait);
}

if (isMainThread) await main();
else writeRanks(workerData);
