import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Poller } from '../../../webview/explorer/state/poller';
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

/** Two pollers of one page; each notes when it asks. */
function together(): { fast: Poller; slow: Poller; time: FakeTime; asked: string[]; settle: () => Promise<void> } {
  const time = new FakeTime();
  const asked: string[] = [];
  const note = (name: string) => (): Promise<void> => Promise.resolve(void asked.push(`${name} ${time.now()}`));
  const fast = new Poller(note('fast'), 100, time);
  const slow = new Poller(note('slow'), 500, time);
  const settle = (): Promise<void> => new Promise(done => setImmediate(done));
  return { fast, slow, time, asked, settle };
}

test('who asks seldom asks along with who asks often', async () => {
  const { fast, slow, time, asked, settle } = together();
  for (let at = 0; at < 700; at += 10) {
    fast.invalidate();
    slow.invalidate();
    time.advance(10);
    await settle();
  }
  const slows = asked.filter(one => one.startsWith('slow')).map(one => Number(one.slice(5)));
  assert.equal(slows.length, 2, asked.join());
  assert.ok(slows[1]! - slows[0]! >= 470, asked.join());
  for (const at of slows) assert.ok(asked.includes(`fast ${at}`), asked.join());
});

test('those of one interval ask at one moment, though they were told of the news one after the other', async () => {
  const time = new FakeTime();
  const asked: string[] = [];
  const note = (name: string) => (): Promise<void> => Promise.resolve(void asked.push(`${name} ${time.now()}`));
  const [card, table] = ['card', 'table'].map(name => new Poller(note(name), 250, time));
  for (const at of [0, 3, 200, 250, 253]) {
    time.advance(at - time.now());
    if (at !== 3 && at !== 253) card!.invalidate();
    if (at !== 0) table!.invalidate();
    time.advance(0);
    await new Promise(done => setImmediate(done));
  }
  assert.deepEqual(asked, ['card 0', 'table 3', 'card 250', 'table 250']);
});

test('who asks seldom waits only a little for others', async () => {
  const { slow, time, asked, settle } = together();
  slow.invalidate();
  time.advance(0);
  await settle();
  slow.invalidate();
  time.advance(619);
  assert.equal(asked.length, 1);
  time.advance(1);
  assert.deepEqual(asked, ['slow 0', 'slow 620']);
});

test('a question of the user takes along what is due, and nothing else', async () => {
  const { fast, slow, time, asked, settle } = together();
  fast.invalidate();
  slow.invalidate();
  time.advance(0);
  await settle();
  asked.length = 0;
  slow.invalidate();
  fast.invalidate(true);
  time.advance(50);
  await settle();
  assert.deepEqual(asked, ['fast 50']);
  asked.length = 0;
  fast.invalidate();
  time.advance(50);
  await settle();
  assert.deepEqual(asked, ['fast 100'], 'and holds up no round');
});
