// Runs jobs/passes.py and holds what the trace says of passes and peaks against what the job said of itself.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cli = join(dirname(fileURLToPath(import.meta.url)), '../../dist/cli.js');
/** Two clocks are compared; the job rests for 30 ms behind each part. */
const CLOCK_S = 0.01;

/** @param words the program and its arguments; `options` are of `gpu-memtrace run` */
export function passesAgree(words, options = [], variables = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-passes-'));
  try {
    const [trace, told] = ['job.gputrace', 'truth.json'].map(name => join(folder, name));
    const env = { ...process.env, ...variables, GMT_TRUTH: told };
    const ask = (...of) => spawnSync(process.execPath, [cli, ...of], { env, encoding: 'utf8', maxBuffer: 1 << 30 });
    const ran = ask('run', ...options, '--format', 'none', '-o', trace, '--', ...words);
    assert.equal(ran.status, 0, ran.stderr);
    const { parts, peaks } = JSON.parse(readFileSync(told, 'utf8'));
    inTime(JSON.parse(ask('report', trace, '--format', 'perfetto').stdout), parts);
    const peakOf = moment => JSON.parse(ask('report', trace, '--at', moment, '--format', 'json').stdout).moment.peak;
    peaks.forEach((bytes, at) => {
      const peak = peakOf(`peak:${at + 1}`);
      assert.equal(peak.step, at + 1);
      if (bytes !== null) assert.equal(peak.bytes, bytes, `step ${at + 1}`);
      for (const kind of ['categories', 'modules'])
        assert.equal(
          peak[kind].reduce((sum, part) => sum + part.bytes, 0),
          peak.bytes,
        );
    });
    const highest = peakOf('peak');
    if (peaks[0] !== null) assert.equal(highest.bytes, Math.max(...peaks));
    assert.ok(highest.next.bytes < highest.bytes);
    return { parts: parts.length, steps: peaks.length, highest };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One slice for each part, in the same order, inside it. */
function inTime({ traceEvents, otherData }, parts) {
  const startS = Date.parse(otherData.startedAt) / 1e3;
  const slices = traceEvents.filter(({ cat, ph }) => cat === 'pass' && ph === 'b');
  assert.deepEqual(
    slices.map(({ name }) => name),
    parts.map(([name]) => name),
  );
  slices.forEach(({ ts }, at) => {
    const [name, begin, end] = parts[at];
    const began = startS + ts / 1e6;
    assert.ok(began >= begin - CLOCK_S && began <= end + CLOCK_S, `${name} ${at}: ${began} in ${begin} to ${end}`);
  });
}
