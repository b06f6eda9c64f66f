// Snapshots that nobody wrote by hand, from PyTorch 1.13 to 2.14: every sum is that of a reader of its own, and nothing is lost.
// GMT_SNAPSHOTS=20000 tries so many, GMT_SEED=7 begins there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import type { NativeAddon } from '../../../extension/native/native';
import { traceFile } from '../../../extension/native/traceFile';

const loaded = { exports: {} };
process.dlopen(loaded, resolve(process.env['GMT_ADDON'] ?? 'dist/native/gpu_memory_trace.node'));
const addon = loaded.exports as NativeAddon;
const count = Number(process.env['GMT_SNAPSHOTS'] ?? 60);
const first = Number(process.env['GMT_SEED'] ?? 1);
const BATCH = 500;

interface Sums {
  liveBlocks: number;
  liveBytes: number;
  reservedBytes: number;
  ooms: number;
  optimizerSteps: number;
  peaks: Record<string, number>;
  hostBytes: number;
}

async function read(file: string): Promise<Sums & { lost: object; damaged: boolean }> {
  const trace = await traceFile(addon, file);
  const session = addon.open(trace.path);
  await session.settle();
  const { totals, outOfMemory, steps, lost, processes } = session.info();
  session.close();
  trace.release();
  const of = (layer: string, field: 'liveBytes' | 'liveCount'): number =>
    totals.filter(total => total.layer === layer).reduce((sum, total) => sum + total[field], 0);
  const peaks = totals.filter(({ layer }) => layer === 'tensor').map(({ device, peakBytes }) => [device, peakBytes]);
  return {
    liveBlocks: of('tensor', 'liveCount'),
    liveBytes: of('tensor', 'liveBytes'),
    reservedBytes: of('driver', 'liveBytes'),
    ooms: outOfMemory.length,
    optimizerSteps: steps.find(({ source }) => source === 'optimizer')?.count ?? 0,
    peaks: Object.fromEntries(peaks) as Record<string, number>,
    hostBytes: of('host', 'liveBytes'),
    lost: { events: lost.events, ...lost.byCause },
    damaged: processes.some(({ notes }) => notes.some(({ code }) => code === 0)),
  };
}

test(`${count} random snapshots, each sum as it is in the file`, async t => {
  for (let done = 0; done < count; done += BATCH) {
    const folder = mkdtempSync(join(tmpdir(), 'gmt-random-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const words = [
      'test/workloads/snapshots/random_snapshot.py',
      folder,
      Math.min(BATCH, count - done),
      first + done,
    ].map(String);
    const lines = execFileSync('python3', words, { encoding: 'utf8', maxBuffer: 1 << 28 });
    for (const line of lines.trim().split('\n')) {
      const { seed, file, peaks, ...truth } = JSON.parse(line) as Sums & { seed: number; file: string };
      const { peaks: most, ...got } = await read(file);
      assert.deepEqual(got, { ...truth, lost: { events: 0 }, damaged: false }, `seed ${seed}`);
      for (const [device, peak] of Object.entries(peaks))
        assert.equal(most[device] ?? 0, peak, `seed ${seed}, peak of GPU ${device}`);
    }
    rmSync(folder, { recursive: true, force: true });
  }
});
