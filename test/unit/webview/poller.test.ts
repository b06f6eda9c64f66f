import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Poller } from '../../../webview/explorer/poller';
import { FakeTime } from './fakeTime';

function setUp(): { poller: Poller; time: FakeTime; asked: (() => void)[]; settle: () => Promise<void> } {
  const time = new FakeTime();
  const asked: (() => void)[] = [];
  const poller = new Poller(() => new Promise<void>(answer => asked.push(answer)), 100, time);
  const settle = (): Promise<void> => new Promise(done => setImmediate(done));
  return { poller, time, asked, settle };
}

test('never two questions at a time; changes meanwhile make one more', async () => {
  const { poller, time, asked, settle } = setUp();
  poller.invalidate();
  time.advance(0);
  assert.equal(asked.length, 1);
  for (let i = 0; i < 5; i++) poller.invalidate(true);
  time.advance(1000);
  assert.equal(asked.length, 1, 'the first is not answered yet');
  asked[0]!();
  await settle();
  time.advance(0);
  assert.equal(asked.length, 2);
  asked[1]!();
  await settle();
  time.advance(1000);
  assert.equal(asked.length, 2, 'nothing changed since');
});

test('an interval lies between two questions, unless the user asks', async () => {
  const { poller, time, asked, settle } = setUp();
  poller.invalidate();
  time.advance(0);
  asked[0]!();
  await settle();
  time.advance(10);
  poller.invalidate();
  time.advance(89);
  assert.equal(asked.length, 1);
  time.advance(1);
  assert.equal(asked.length, 2);
  asked[1]!();
  await settle();
  poller.invalidate();
  poller.invalidate(true);
  time.advance(0);
  assert.equal(asked.length, 3);
});

test('nothing is asked while the page is hidden; one question when it is seen again', () => {
  const { poller, time, asked } = setUp();
  time.isHidden = true;
  poller.invalidate();
  poller.invalidate();
  time.advance(1000);
  assert.equal(asked.length, 0);
  time.isHidden = false;
  poller.wake();
  time.advance(0);
  assert.equal(asked.length, 1);
});

test('a question that was planned before the page was hidden waits', () => {
  const { poller, time, asked } = setUp();
  poller.invalidate();
  time.isHidden = true;
  time.advance(0);
  assert.equal(asked.length, 0);
  time.isHidden = false;
  poller.wake();
  time.advance(0);
  assert.equal(asked.length, 1);
});

test('a failed round does not stop the next', async () => {
  const time = new FakeTime();
  let rounds = 0;
  const poller = new Poller(
    async () => {
      rounds++;
      await Promise.reject(new Error('gone')).catch(() => undefined);
    },
    100,
    time,
  );
  for (let i = 0; i < 3; i++) {
    poller.invalidate(true);
    time.advance(0);
    await new Promise(done => setImmediate(done));
  }
  assert.equal(rounds, 3);
});
