// A disk of a few pages, to be filled.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Place } from '../launcher';

/** A place whose traces lie on a small disk of their own, `disk`; null: it cannot be had here, and the test is skipped. */
export function placeOnDisk(
  t: TestContext,
  bytes: number,
): { place: Place; disk: string; env: NodeJS.ProcessEnv } | null {
  const disk = mkdtempSync(join(tmpdir(), 'gpu-memtrace-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'gmt-test', disk]);
  t.after(() => {
    if (mounted.status === 0) spawnSync('umount', ['--lazy', disk]);
    rmdirSync(disk);
  });
  if (mounted.status !== 0) {
    t.skip('a small disk can be mounted by root alone');
    return null;
  }
  const env = { XDG_RUNTIME_DIR: join(disk, 'run'), XDG_CACHE_HOME: join(disk, 'cache'), TMPDIR: join(disk, 'tmp') };
  for (const folder of Object.values(env)) mkdirSync(folder, { mode: 0o700 });
  return { place: new Place(t), disk, env };
}
