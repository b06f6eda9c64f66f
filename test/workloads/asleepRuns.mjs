// Programs whose recording is asleep at first, or pauses: afterwards the trace has what PyTorch's allocator has.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runJob } from './tracedJob.mjs';

const NOTE_STARTED =
  / at .* Steps (?:during the pause|before that) are not counted\. PyTorch had \d+ blocks \(.*\) at that time\. Allocations made (before|during the pause) have no source line/;
const WAYS = {
  step: { options: ['--start-at', 'step:8'], steps: told => told.steps - 8 },
  reserved: { options: ['--start-when', 'reserved>21MB'], steps: () => null },
  pause: { options: [], steps: told => told.steps },
};

export function testAsleep({ python, env, options, file }) {
  for (const [what, way] of Object.entries(WAYS)) {
    test(`recording that begins late (${what}): what PyTorch holds then is known`, async t => {
      const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-asleep-'));
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      const truth = join(folder, 'truth.json');
      const how = { python, env: { ...env, GMT_TRUTH: truth }, words: [what], options: [...options, ...way.options] };
      const { report } = await runJob(file, how);
      const told = JSON.parse(readFileSync(truth, 'utf8'));
      assert.equal(told.asked, 1, 'PyTorch is asked once');
      assert.equal(report.lost.events, 0);
      const alive = report.allocations.filter(({ layer }) => layer === 'tensor');
      assert.deepEqual(
        alive.map(({ address, bytes }) => [Number(address), bytes]).sort(([a], [b]) => a - b),
        told.blocks.sort(([a], [b]) => a - b),
      );
      const total = report.totals.find(({ layer }) => layer === 'tensor');
      assert.equal(total.liveBytes, told.allocated);
      const steps = way.steps(told);
      if (steps !== null) assert.equal(report.steps.count, steps);
      const notes = report.processes.flatMap(one => one.notes);
      const when = notes.flatMap(note => NOTE_STARTED.exec(note)?.[1] ?? []);
      assert.deepEqual(when, [what === 'pause' ? 'during the pause' : 'before'], notes.join('\n'));
      const before = report.sites.filter(
        ({ layer, lineSource, liveBytes }) => layer === 'tensor' && lineSource === 'before-attach' && liveBytes > 0,
      );
      assert.ok(before.length > 0, 'blocks of before have no line');
      assert.ok(report.findings.every(({ verdict }) => verdict !== 'leak' || what !== 'step'));
    });
  }
}
