// Memory runs out in ten ways: the kind, the line and the first advice, which is tried: the bytes that it promised are there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { jobFile, python, runTraced } from './traced.mjs';

/** `advice`: its kind; `fix`: variables of the run that tries it; `unmeasured`: it gives nothing that room shows. */
const CASES = {
  leak: { cause: 'leak', at: 'kept.append(out)', advice: 'leak' },
  batch: { cause: 'full', at: 'return x + self.down', advice: 'batch' },
  huge: { cause: 'big-request', at: 'scores = torch.empty(', advice: 'parts', unmeasured: true },
  caught: { cause: 'big-request', at: 'scores = torch.empty(', advice: 'parts', unmeasured: true },
  fragmentation: {
    cause: 'fragmentation',
    at: 'scores = torch.empty(',
    advice: 'segments',
    fix: { PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:True' },
  },
  other_process: { cause: 'other-process', at: 'scores = torch.empty(', advice: 'processes' },
  graphs: { cause: 'pools', at: 'scores = torch.empty(', advice: 'one-pool' },
  nccl: { cause: 'cache', at: 'dist.', advice: 'empty-cache' },
  pinned: { cause: 'big-request', at: 'scores = torch.empty(', advice: 'pinning', unmeasured: true },
  limit: { cause: 'limit', at: 'scores = torch.empty(', advice: 'limit' },
};
const lines = readFileSync(jobFile('oom_planted'), 'utf8').split('\n');

/** Bytes of the biggest tensor that fits at that place of an untraced run; `edit`: of the program's text. */
function room(name, mode, at, { variables = {}, edit = text => text } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-room-'));
  const told = join(folder, 'truth.json');
  const job = join(folder, 'oom_planted.py');
  writeFileSync(job, edit(readFileSync(jobFile('oom_planted'), 'utf8')));
  const env = {
    ...process.env,
    ...variables,
    PYTHONPATH: dirname(jobFile('truth')),
    GMT_CASE: name,
    GMT_MODE: mode,
    GMT_AT: String(at),
    GMT_TRUTH: told,
  };
  const words = name === 'nccl' ? [...TORCHRUN, job] : [job];
  const { status, stderr } = spawnSync(python, words, { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const { room } = JSON.parse(readFileSync(name === 'nccl' ? `${told}0` : told, 'utf8'));
  rmSync(folder, { recursive: true, force: true });
  return room;
}

const GPUS = Number(
  spawnSync(python, ['-c', 'import torch; print(torch.cuda.device_count())'], { encoding: 'utf8' }).stdout,
);
const TORCHRUN = ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', '2'];

for (const [name, { cause, at, advice, fix, unmeasured }] of Object.entries(CASES))
  test(`memory runs out: ${name}`, { skip: name === 'nccl' && GPUS < 2 && 'one GPU: NCCL needs two' }, () => {
    const job = name === 'nccl' ? [python, ...TORCHRUN, jobFile('oom_planted')] : 'oom_planted';
    const run = runTraced(job, { GMT_CASE: name, GMT_MODE: 'fail' });
    const failure = run.saved.oom.findLast(({ advice }) => advice);
    const first = failure?.advice[0];
    console.log(`${name}: ${failure?.cause}; ${failure?.headline}; ${first?.bytes} ${first?.text.slice(0, 60)}`);
    assert.equal(failure?.cause, cause, `${run.stderr.slice(-1500)}\n${JSON.stringify(failure?.detail)}`);
    assert.equal(run.status === 0, name === 'caught');
    assert.equal(first?.kind, advice, first?.text);
    const found = run.saved.findings.find(one => one.verdict === 'oom' && one.cause === cause);
    const line = (name === 'leak' ? found?.holder : found?.place)?.line;
    assert.ok(lines[line - 1]?.includes(at), `${failure.headline}: ${lines[line - 1]}`);
    if (unmeasured) return;
    const place = run.truth?.at ?? 1; // a rank writes its own
    const edited = found.holder?.fix?.statement ?? 'kept.append(out.detach().cpu())';
    const edit = text => text.replace('kept.append(out)', edited);
    // Less than `atMost` where a part of it could be had anyway: up to a limit, say.
    const freed = room(name, 'fixed', place, { variables: fix, edit }) - room(name, 'room', place);
    // The earlier batches fitted, and their request is small.
    const gained = freed + (name === 'batch' ? failure.requestedBytes : 0);
    console.log(`${name}: promised ${first.bytes}, gained ${gained}`);
    const least = first.atMost ? 0.5 : 0.9;
    const most = first.atLeast ? Infinity : 1.1 * first.bytes;
    assert.ok(gained >= least * first.bytes && gained <= most, `promised ${first.bytes}, gained ${gained}`);
  });
