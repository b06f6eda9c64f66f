// A process may have any number of threads in its life: each has its own name, whatever index of the log it uses again.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inLong, LONG } from '../../long.mjs';
import { Place, python, workload } from '../launcher';

/** The long run makes more than there are indices of threads in a log. */
const IN_TURN = LONG ? 70_000 : 1_000;
const AT_ONCE = LONG ? 1_000 : 300;

test(`${IN_TURN} threads in turn and ${AT_ONCE} at once keep their own names, and no event is lost`, async t => {
  const place = new Place(t);
  const counts = ['--in-turn', String(IN_TURN), '--at-once', String(AT_ONCE)];
  const ended = await place.trace([python, workload('many_threads'), place.path('told'), ...counts]);
  assert.equal(ended.status, 0, ended.stderr);
  assert.deepEqual(ended.report.lost, { events: 0, byCause: {} });
  const exported = await place.run(['report', place.path('t.gputrace'), '--format', 'csv', '-o', place.path('x.csv')]);
  assert.equal(exported.status, 0, exported.stderr);
  const [head = '', ...lines] = readFileSync(place.path('x.csv'), 'utf8').trim().split('\r\n');
  const names = head.split(',');
  const rows = lines.map(line => line.split(',').map((cell, at) => [names[at], cell] as const));
  const tensors = rows.map(row => new Map(row)).filter(row => row.get('layer') === 'tensor');
  const alive = tensors.filter(row => row.get('free_thread') === '' && row.get('bytes') === '512');
  const printed = readFileSync(place.path('told'), 'utf8').trim().split('\n');
  assert.equal(printed.length, IN_TURN + AT_ONCE);
  assert.deepEqual(alive.map(row => `${row.get('thread')} ${row.get('address')}`).sort(), printed.sort());
  // What each made in turn was freed by the thread behind it.
  const freed = tensors.filter(row => row.get('free_thread') !== '');
  const pairs = freed.map(row =>
    [row.get('thread'), row.get('free_thread')].map(name => Number(/^t(\d+):/.exec(name ?? '')?.[1])),
  );
  assert.deepEqual(
    pairs.map(([maker]) => maker).sort((a, b) => a! - b!),
    Array.from({ length: IN_TURN - 1 }, (_, at) => at),
  );
  assert.ok(pairs.every(([maker, freer]) => freer === maker! + 1));
});

// An open chunk is not given back: the budget is that of 64, of which threads that ended or wait must keep few.
const MANY = LONG ? 3_000 : 1_000;
const SHAPES = { 'in turn': [], 'a hundred at once': ['--at-once', '100'], 'a pool': ['--at-once', '100', '--stay'] };
for (const [shape, words] of Object.entries(SHAPES)) {
  void (shape === 'a pool' ? inLong(test) : test)(
    `${MANY} threads, ${shape}, lose nothing within a small budget`,
    async t => {
      const place = new Place(t);
      const limits = ['--detail', '1MB', '--budget', '16MB', '--format', 'none', '--report', place.path('r.json')];
      const job = [python, workload('short_threads'), '--waits', '--threads', String(MANY), '--pairs', '100', ...words];
      const ended = await place.run(['run', '--simulate-gpu', ...limits, '-o', place.path('t.gputrace'), '--', ...job]);
      assert.equal(ended.status, 0, ended.stderr);
      const { lost, totals } = place.readJson<{ lost: unknown; totals: Record<string, unknown>[] }>('r.json');
      assert.deepEqual(lost, { events: 0, byCause: {} });
      const [tensors] = totals.filter(row => row.layer === 'tensor');
      assert.ok(Number(tensors?.allocations) >= 100 * MANY, JSON.stringify(tensors));
      assert.equal(tensors?.frees, tensors?.allocations);
    },
  );
}
