// A command that watches for days takes no more memory than it took after its first minute.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { inLong } from '../../long.mjs';
import { driverScript } from '../../workloads/driverScript.mjs';
import { Place, python } from '../launcher';

const MB = 1 << 20;
/** The heap of JavaScript has its size after a minute; the three behind it are compared. */
const MINUTES = 4;
/** Pages that the collector happens to have kept. */
const SPREAD = 4 * MB;

/** Allocates and frees in a loop, and keeps a block now and then: steps, lines and blocks go on, and so do the reads of the command. */
const JOB = driverScript(`free = cuda.cuMemFree_v2
end = time.time() + ${MINUTES * 60 + 5}
turn = 0
while time.time() < end:
    for size in (4096, 8192, 65536):
        allocate(ctypes.byref(address), ctypes.c_size_t(size))
        free(address)
    turn += 1
    if turn % 100 == 0:
        allocate(ctypes.byref(address), ctypes.c_size_t(512))
    time.sleep(0.002)
`);

function residentBytes(pid: number): number {
  const pages = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(pages) * 1024;
}

void inLong(test)('the memory of a command that watches does not grow', async t => {
  const place = new Place(t);
  const job = place.write('job.py', JOB);
  const started = place.start(['run', '--simulate-gpu', '--format', 'none', '-o', 't.gputrace', '--', python, job]);
  const least: number[] = [];
  for (let minute = 0; minute < MINUTES; minute++) {
    let bytes = Infinity;
    for (const end = Date.now() + 60_000; Date.now() < end; await sleep(250))
      bytes = Math.min(bytes, residentBytes(started.pid));
    least.push(bytes);
  }
  const { status, stderr } = await started.ended;
  assert.equal(status, 0, stderr);
  const grown = (least.at(-1) ?? 0) - (least[1] ?? 0);
  assert.ok(
    grown <= SPREAD,
    `least resident memory by minute: ${least.map(each => (each / MB).toFixed(1)).join(', ')} MB`,
  );
});
