// What a sample job reports of itself when it ends, and whether a trace holds exactly that.
import assert from 'node:assert/strict';
import type { Ended, Report } from './launcher';

/** What a job prints of one process. */
export interface Facts {
  pid: number;
  allocations: number;
  frees: number;
  liveBytes: number;
  live: { address: string; bytes: number; device: number; tid: number; file: string; line: number; function: string }[];
  threads: { tid: number; name: string }[];
  stats: { allocations: number; frees: number; liveBytes: number; reservedBytes: number; outOfMemory: number };
}

/** The job's last line of output. */
export const lastLine = <T>({ stdout }: Ended): T => JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T;

/** Compares all live blocks of a process, each with its thread and line, and the sums. */
export function check(report: Report, facts: Facts): void {
  const sites = new Map(report.sites.map(site => [site.id, site.frames[0]]));
  const names = new Map(facts.threads.map(({ tid, name }) => [tid, name]));
  const byAddress = (a: { address: string }, b: { address: string }): number => a.address.localeCompare(b.address);
  const traced = report.allocations
    .filter(({ layer, pid }) => layer === 'tensor' && pid === facts.pid)
    .map(({ address, bytes, device, tid, thread, site }) => ({
      address,
      bytes,
      device,
      tid,
      thread,
      ...sites.get(site),
    }));
  const live = facts.live.map(block => ({ ...block, thread: names.get(block.tid) }));
  assert.deepEqual(traced.sort(byAddress), live.sort(byAddress));
  const total = report.totals.find(({ layer, pid }) => layer === 'tensor' && pid === facts.pid);
  assert.deepEqual(
    [total?.liveBytes, total?.allocations, total?.frees],
    [facts.liveBytes, facts.stats.allocations, facts.stats.frees],
  );
  const driver = report.totals.find(({ layer, pid }) => layer === 'driver' && pid === facts.pid);
  assert.equal(driver?.liveBytes, facts.stats.reservedBytes, 'what the cache holds came from the driver');
}
