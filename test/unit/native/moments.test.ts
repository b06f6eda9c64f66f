import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Moments } from '../../../extension/native/moments';
import type { NativeTrace } from '../../../extension/native/native';

/** Sessions that are read when `finish` says so. */
function fake() {
  const open: number[] = [];
  const settled = new Map<number, { done(): void; fail(error: Error): void }>();
  const moments = new Moments({} as NativeTrace, untilNs => {
    if (untilNs === 666) throw new Error('The trace cannot be read.');
    open.push(untilNs);
    const settle = new Promise<void>((done, fail) => settled.set(untilNs, { done, fail }));
    return {
      untilNs,
      settle: () => settle,
      info: () => ({ durationNs: untilNs / 2 }),
      close: () => {
        open.splice(open.indexOf(untilNs), 1);
        settled.get(untilNs)?.fail(new Error('The session is closed.'));
      },
    } as unknown as NativeTrace;
  });
  return { moments, open, finish: (untilNs: number) => settled.get(untilNs)?.done(), settled };
}

test('a moment is read once, and how far it is can be asked', async () => {
  const { moments, open, finish } = fake();
  assert.deepEqual(moments.reading(40), { done: false, readNs: 20, untilNs: 40 });
  const session = moments.at(40);
  finish(40);
  assert.equal(await session, await moments.at(40));
  assert.deepEqual(moments.reading(40), { done: true, readNs: 40, untilNs: 40 });
  assert.deepEqual(open, [40]);
});

test('at most two are open: what was used longest ago is closed', async () => {
  const { moments, open, finish } = fake();
  for (const time of [1, 2]) {
    const session = moments.at(time);
    finish(time);
    await session;
  }
  void moments.at(1);
  void moments.at(3).catch(() => undefined);
  assert.deepEqual(open, [1, 3]);
  moments.close();
  assert.deepEqual(open, []);
});

test('cancel gives up what is being read, and keeps what is read', async () => {
  const { moments, open, finish } = fake();
  const first = moments.at(1);
  finish(1);
  await first;
  const second = moments.at(2);
  moments.cancel();
  await assert.rejects(second, /closed/);
  assert.deepEqual(open, [1]);
  assert.equal(moments.reading(2).done, false, 'it begins anew');
  assert.deepEqual(open, [1, 2]);
  moments.close();
});

test('a trace that cannot be opened says so each time', async () => {
  const { moments } = fake();
  assert.throws(() => moments.reading(666), /cannot be read/);
  await assert.rejects(async () => moments.at(666), /cannot be read/);
});

test('what stops the reading is told once; then it can be tried again', async () => {
  const { moments, open, settled, finish } = fake();
  moments.reading(9);
  settled.get(9)?.fail(new Error('The disk is gone.'));
  await new Promise(setImmediate);
  assert.throws(() => moments.reading(9), /disk/);
  assert.deepEqual(open, []);
  assert.equal(moments.reading(9).done, false);
  settled.get(9)?.fail(new Error('Again.'));
  await new Promise(setImmediate);
  const session = moments.at(9);
  finish(9);
  await session;
});
