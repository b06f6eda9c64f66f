import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionView, ToPage } from '../../../extension/protocol/requests/messages';
import type { TraceInfo } from '../../../extension/protocol/trace';
import { PageNews } from '../../../extension/views/page/pageNews';
import { FakeTime } from '../webview/fakeTime';

const EMPTY: SessionView = {
  id: 1,
  phase: 'running',
  title: 'train.py',
  detail: '',
  simulated: false,
  recording: true,
  exitCode: null,
  ending: null,
  trusted: true,
  canWiden: false,
  marks: [],
  sessions: [],
  info: null,
};

interface Setup {
  news: PageNews;
  time: FakeTime;
  source: { revision: number; detail: string; views: number };
  said: () => string[];
}

/** A page that was told of revision 1 a second ago. */
function setUp(): Setup {
  const time = new FakeTime();
  const source = { revision: 1, detail: '', views: 0 };
  let told: ToPage[] = [];
  const clock = {
    now: () => time.now(),
    set: (run: () => void, milliseconds: number) => time.set(run, milliseconds) as unknown as NodeJS.Timeout,
    clear: (timer: NodeJS.Timeout | undefined) => time.clear(timer as unknown as number),
  };
  const view = (): SessionView => {
    source.views++;
    const info = { revision: source.revision, processes: [] } as unknown as TraceInfo;
    return { ...EMPTY, detail: source.detail, info };
  };
  const news = new PageNews({ revision: () => source.revision, view }, message => told.push(message), clock);
  const said = (): string[] => {
    const types = told.map(message =>
      message.type === 'session' ? `session ${message.session.info?.revision}` : JSON.stringify(message),
    );
    told = [];
    return types;
  };
  news.begin();
  assert.deepEqual(said(), ['session 1']);
  time.advance(1000);
  return { news, time, source, said };
}

const changed = (revision: number): string => JSON.stringify({ type: 'changed', revision });

/** Events every 50 ms, without a question of the page. */
function storm({ news, time, source }: Setup, milliseconds: number): void {
  for (let at = 0; at < milliseconds; at += 50) {
    source.revision++;
    news.events();
    time.advance(50);
  }
}

test('the first events after a pause are told at once, with the figures', () => {
  const { news, source, said } = setUp();
  source.revision = 2;
  news.events();
  assert.deepEqual(said(), ['session 2']);
});

test('while events come, a page that asks nothing hears of them ten times a second, and of figures seldom', () => {
  const all = setUp();
  storm(all, 1000);
  const said = all.said();
  const sessions = said.filter(one => one.startsWith('session'));
  assert.ok(sessions.length >= 3 && sessions.length <= 4, said.join());
  assert.ok(said.length >= 7 && said.length <= 11, said.join());
  assert.ok(all.source.views <= sessions.length + 1, 'the view is made only when it is told');
});

test('the last events are told although nothing follows them', () => {
  const all = setUp();
  storm(all, 100);
  all.said();
  all.time.advance(120);
  assert.deepEqual(all.said(), [changed(all.source.revision)]);
  all.time.advance(1000);
  assert.deepEqual(all.said(), [`session ${all.source.revision}`]);
  all.time.advance(5000);
  assert.deepEqual(all.said(), []);
});

test('what is new goes with the answer to a question', () => {
  const { news, time, source, said } = setUp();
  source.revision = 2;
  news.events();
  said();
  news.asked();
  assert.deepEqual(said(), [], 'nothing is new');
  time.advance(50);
  source.revision = 3;
  news.events();
  assert.deepEqual(said(), []);
  news.asked();
  assert.deepEqual(said(), [changed(3)]);
});

test('more than figures is told at once', () => {
  const { news, time, source, said } = setUp();
  source.revision = 2;
  news.events();
  said();
  time.advance(10);
  source.detail = 'It ended.';
  news.changed();
  assert.deepEqual(said(), ['session 2']);
  news.changed();
  assert.deepEqual(said(), []);
});

test('what was judged meanwhile is told with the figures although no event came', () => {
  const { news, time, said } = setUp();
  news.changed();
  assert.deepEqual(said(), ['session 1']);
  news.changed();
  time.advance(1000);
  assert.deepEqual(said(), ['session 1']);
});

test('a page that is gone hears nothing', () => {
  const { news, time, source, said } = setUp();
  source.revision = 2;
  news.events();
  source.revision = 3;
  news.events();
  said();
  news.stop();
  time.advance(1000);
  assert.deepEqual(said(), []);
});
