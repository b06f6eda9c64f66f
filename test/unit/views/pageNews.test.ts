import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionView, ToPage } from '../../../extension/protocol/requests/messages';
import type { TraceInfo } from '../../../extension/protocol/trace';
import { PageNews } from '../../../extension/views/page/pageNews';

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
  source: { revision: number; detail: string; processes: unknown[]; views: number; late: boolean };
  said: () => string[];
}

/** A page that was told of revision 1. */
function setUp(): Setup {
  const source = { revision: 1, detail: '', processes: [] as unknown[], views: 0, late: false };
  let told: ToPage[] = [];
  const view = (): SessionView => {
    source.views++;
    const info = { revision: source.revision, processes: [...source.processes] } as unknown as TraceInfo;
    return { ...EMPTY, detail: source.detail, info };
  };
  const late = (late: boolean): void => void (source.late = late);
  const news = new PageNews({ revision: () => source.revision, view, late }, message => told.push(message));
  const said = (): string[] => {
    const words = told.map(message => {
      if (message.type !== 'session') return JSON.stringify(message);
      return `session ${message.session.info?.revision}${message.answers ? ' with answers' : ''}`;
    });
    told = [];
    return words;
  };
  news.begin();
  assert.deepEqual(said(), ['session 1']);
  return { news, source, said };
}

const changed = (revision: number): string => JSON.stringify({ type: 'changed', revision });

test('of events the page hears without a figure; the figures go with what it then asks for', () => {
  const { news, source, said } = setUp();
  source.revision = 2;
  const { views } = source;
  news.events();
  assert.deepEqual(said(), [changed(2)]);
  assert.ok(source.late, 'the next moment waits for the page');
  assert.equal(source.views, views, 'the view is made only when it is told');
  news.asked();
  assert.deepEqual(said(), ['session 2 with answers']);
  assert.ok(!source.late);
  news.asked();
  assert.deepEqual(said(), [], 'nothing is new');
});

test('more than figures is told at once, beside the figures that the page has', () => {
  const { news, source, said } = setUp();
  source.revision = 2;
  source.detail = 'It ended.';
  news.changed();
  assert.deepEqual(said(), ['session 1']);
  news.asked();
  assert.deepEqual(said(), ['session 2 with answers']);
  news.changed();
  assert.deepEqual(said(), [changed(2)], 'what was judged meanwhile is to be asked for, though no event came');
});

test('a page that had no process gets the figures with it', () => {
  const { news, source, said } = setUp();
  source.revision = 2;
  source.processes.push({});
  news.changed();
  assert.deepEqual(said(), ['session 2']);
});

test('what is to be seen is told once more to a page that was loaded anew before it asked for anything', () => {
  const { news, said } = setUp();
  const focus = JSON.stringify({ type: 'focus' });
  news.want({ type: 'focus' });
  news.tellWanted();
  news.tellWanted();
  assert.deepEqual(said(), [focus]);
  news.begin();
  news.tellWanted();
  assert.deepEqual(said(), ['session 1', focus]);
  news.heard();
  news.begin();
  news.tellWanted();
  assert.deepEqual(said(), ['session 1']);
});
