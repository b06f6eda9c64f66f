// Memory runs out in ten ways: the kind, the line and the first advice, which is tried: the bytes that it promised are there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { jobFile, python, runTraced } from './traced.mjs';

/** `fix`: variables of the run that tries the advice; `unmeasured`: it gives nothing that room shows. */
const CASES = {
  leak: { cause: 'leak', at: 'kept.append(', advice: /^Write `kept\.append\(out\.detach\(\)/ },
  batch: { cause: 'full', at: 'return x + self.down', advice: /^A smaller batch/ },
  huge: {
    cause: 'big-request',
    at: 'scores = tensor(65)',
    advice: /^Do the work of that line in \d+ parts/,
    unmeasured: true,
  },
  caught: { cause: 'big-request', at: 'scores = tensor(65)', advice: /^Do the work of that line in/, unmeasured: true },
  fragmentation: {
    cause: 'fragmentation',
    at: 'scores = tensor(30)',
    advice: /expandable_segments:True/,
    fix: { PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:True' },
  },
  other_process: { cause: 'other-process', at: 'scores = tensor(25)', advice: /^Other processes hold it/ },
  graphs: { cause: 'graphs', at: 'scores = tensor(45)', advice: /graph/ },
  nccl: { cause: 'cache', at: 'dist.', advice: /empty_cache/ },
  pinned: { cause: 'big-request', at: 'scores = tensor(400', advice: /^Pin less main memory/, unmeasured: true },
  limit: { cause: 'limit', at: 'scores = tensor(15)', advice: /^Raise the limit/ },
};
const lines = readFileSync(jobFile('oom_planted'), 'utf8').split('\n');

/** Bytes of the biggest tensor that fits at that place of an untraced run. */
function room(name, mode, at, variables = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-room-'));
  const told = join(folder, 'truth.json');
  const env = { ...process.env, ...variables, GMT_CASE: name, GMT_MODE: mode, GMT_AT: String(at), GMT_TRUTH: told };
  const { status, stderr } = spawnSync(python, [jobFile('oom_planted')], { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const { room } = JSON.parse(readFileSync(told, 'utf8'));
  rmSync(folder, { recursive: true, force: true });
  return room;
}

for (const [name, { cause, at, advice, fix, unmeasured }] of Object.entries(CASES))
  test(`memory runs out: ${name}`, () => {
    const run = runTraced('oom_planted', { GMT_CASE: name, GMT_MODE: 'fail' });
    const failure = run.saved.oom.at(-1);
    const first = failure?.advice[0];
    console.log(`${name}: ${failure?.cause}; ${failure?.headline}; ${first?.bytes} ${first?.text.slice(0, 60)}`);
    assert.equal(failure?.cause, cause, `${run.stderr.slice(-1500)}\n${JSON.stringify(failure?.detail)}`);
    assert.equal(run.status === 0, name === 'caught');
    assert.match(first?.text ?? '', advice);
    const line = Number(/oom_planted\.py:(\d+)/.exec(failure.headline)?.[1]);
    if (name !== 'leak') assert.ok(lines[line - 1]?.includes(at), `${failure.headline}: ${lines[line - 1]}`);
    else assert.ok(run.saved.findings.some(({ holder }) => lines[(holder?.line ?? 0) - 1]?.includes(at)));
    if (unmeasured) return;
    const place = run.truth.at;
    const gained = room(name, 'fixed', place, fix) - room(name, 'room', place);
    console.log(`${name}: promised ${first.bytes}, gained ${gained}`);
    assert.ok(Math.abs(first.bytes - gained) <= 0.1 * first.bytes, `promised ${first.bytes}, gained ${gained}`);
  });
