// Runs one job of test/gpu/jobs under the command line, as a user does, and gives its report beside what the job itself wrote.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '../../dist/cli.js');
export const python = process.env.GPU_MEMTRACE_PYTHON ?? 'python3';
export const jobFile = name => join(here, 'jobs', `${name}.py`);

/** A job by its name, { workload, options } for one of test/workloads, or all its words. */
function command(job) {
  if (Array.isArray(job)) return job;
  if (typeof job === 'string') return [python, jobFile(job)];
  return [python, join(here, '../workloads', `${job.workload}.py`), ...job.options];
}

/** The job without the tracer. */
export function runUntraced(name, env = {}) {
  return inFolder(folder => {
    const truth = join(folder, 'truth.json');
    const run = spawnSync(python, [jobFile(name)], {
      env: { ...process.env, ...env, GMT_TRUTH: truth },
      encoding: 'utf8',
    });
    return { status: run.status, stdout: run.stdout, stderr: run.stderr, truth: readJson(truth) };
  });
}

/** The job under the tracer: its status and output, its truth, the JSON report and the text of the last table. */
export function runTraced(job, env = {}, options = []) {
  return inFolder(folder => {
    const [truth, report, trace] = ['truth.json', 'report.json', 'job.gputrace'].map(file => join(folder, file));
    const args = ['run', '--format', 'json', '--report', report, '-o', trace, ...options, '--', ...command(job)];
    const run = spawnSync(process.execPath, [cli, ...args], {
      env: { ...process.env, ...env, GMT_TRUTH: truth },
      encoding: 'utf8',
    });
    const again = spawnSync(process.execPath, [cli, 'report', trace, '--format', 'json'], {
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    });
    const saved = again.status === 0 ? JSON.parse(again.stdout) : null;
    const table = spawnSync(process.execPath, [cli, 'report', trace, '--blocks'], {
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    }).stdout;
    return {
      status: run.status,
      signal: run.signal,
      stdout: run.stdout,
      stderr: run.stderr,
      truth: readJson(truth),
      report: readJson(report),
      saved,
      table,
    };
  });
}

function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-suite-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

/** Sum of the totals of one layer on the devices (host memory apart). */
export function total(report, layer, pid) {
  const rows = report.totals.filter(row => row.layer === layer && (pid === undefined || row.pid === pid));
  const sum = {
    allocations: 0,
    frees: 0,
    liveBytes: 0,
    liveCount: 0,
    allocatedBytes: 0,
    freedBytes: 0,
    peakBytes: 0,
    segmentAllocations: 0,
    segmentFrees: 0,
  };
  for (const row of rows) for (const key of Object.keys(sum)) sum[key] += row[key] ?? 0;
  return sum;
}

/** Live allocations by address. */
export function liveByAddress(report, layer) {
  const sites = new Map(report.sites.map(site => [site.id, site]));
  const live = report.allocations.filter(allocation => allocation.layer === layer);
  return new Map(
    live.map(allocation => [Number(allocation.address), { ...allocation, site: sites.get(allocation.site) }]),
  );
}
