// The module that is called belongs to a stack, also where all frames of two stacks are the same.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { NO_MODULE } from '../../extension/report/trees/modules';
import { LONG } from '../long.mjs';
import { pythons } from '../runner/pythons.mjs';
import { Place, workload } from './launcher';

const OLDEST = 9;

/** Each supported version once. */
function supported(): Map<string, string> {
  const found = new Map<string, string>();
  for (const python of pythons()) {
    const { stdout } = spawnSync(python, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
      encoding: 'utf8',
    });
    const version = (stdout ?? '').trim();
    if (Number(/^3\.(\d+)$/.exec(version)?.[1] ?? 0) >= OLDEST && !found.has(version)) found.set(version, python);
  }
  return found;
}

test('bytes by module, by the class where nobody tells its path', async t => {
  const found = supported();
  assert.ok(found.size > 0, 'no supported Python is here');
  const chosen = [...found].slice(0, LONG ? found.size : 1);
  for (const [version, python, torch] of chosen.flatMap(one => ['2.1', '2.0'].map(each => [...one, each] as const))) {
    const place = new Place(t);
    const ended = await place.trace([python, workload('modules/program')], { GMT_TORCH: torch });
    assert.equal(ended.status, 0, ended.stderr);
    const run = await place.run(['report', place.path('t.gputrace'), '--format', 'json', '--group-by', 'module-path']);
    const { groups } = JSON.parse(run.stdout) as { groups: { label: string; liveBytes: number }[] };
    assert.deepEqual(
      Object.fromEntries(groups.map(({ label, liveBytes }) => [label, liveBytes])),
      {
        [NO_MODULE]: 512,
        'Outer (path unknown)': 4096,
        'First (path unknown)': 1024,
        'Second (path unknown)': 5120,
      },
      `Python ${version}, PyTorch ${torch}`,
    );
    await place.run(['report', place.path('t.gputrace'), '--format', 'csv', '-o', place.path('t.csv')]);
    const [head = '', ...rows] = readFileSync(place.path('t.csv'), 'utf8').trimEnd().split('\r\n');
    const column = (name: string): number => head.split(',').indexOf(name);
    const sums: Record<string, number> = {};
    for (const cells of rows.map(row => row.split(','))) {
      if (cells[column('layer')] !== 'tensor' || cells[column('end_seconds')] !== '') continue;
      const label = cells[column('module')] || NO_MODULE;
      sums[label] = (sums[label] ?? 0) + Number(cells[column('bytes')]);
    }
    assert.deepEqual(sums, Object.fromEntries(groups.map(({ label, liveBytes }) => [label, liveBytes])), 'CSV');
  }
});
