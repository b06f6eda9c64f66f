import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionView, ToPage } from '../../../extension/protocol/requests/messages';
import type { TraceInfo } from '../../../extension/protocol/trace';
import { PageNotifier } from '../../../extension/views/page/pageNotifier';

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
  notifier: PageNotifier;
  source: { revision: number; judged: number; detail: string; processes: unknown[]; views: number; late: boolean };
  said: () => string[];
}

/** A page that was told of revision 1. */
function setUp(): Setup {
  const source = { revision: 1, judged: 1, detail: '', processes: [] as unknown[], views: 0, late: false };
  let told: ToPage[] = [];
  const view = (): SessionView => {
    source.views++;
    const info = { revision: source.revision, processes: [...source.processes] } as unknown as TraceInfo;
    return { ...EMPTY, detail: source.detail, info };
  };
  const answered = (): void => undefined;
  const late = (late: boolean): void => void (source.late = late);
  const notifier = new PageNotifier(
    { revision: () => source.revision, judged: () => source.judged, view, late, answered },
    message => told.push(message),
  );
  const said = (): string[] => {
    const words = told.map(message => {
      if (message.type !== 'session') return JSON.stringify(message);
      return `session ${message.session.info?.revision}${message.answers ? ' with answers' : ''}`;
    });
    told = [];
    return words;
  };
  notifier.begin();
  assert.deepEqual(said(), ['session 1']);
  return { notifier, source, said };
}

const changed = (revision: number): string => JSON.stringify({ type: 'changed', revision });

test('of events the page hears without a figure; the figures go with what it then asks for', () => {
  const { notifier, source, said } = setUp();
  source.revision = 2;
  const { views } = source;
  notifier.events();
  assert.deepEqual(said(), [changed(2)]);
  assert.ok(source.late, 'the next moment waits for the page');
  assert.equal(source.views, views, 'the view is made only when it is told');
  notifier.figuresRequested();
  assert.ok(!source.late, 'what stands beside the page is requested with it');
  notifier.figuresAnswered();
  assert.deepEqual(said(), ['session 2 with answers']);
  notifier.figuresAnswered();
  assert.deepEqual(said(), [], 'nothing is new');
});

test('more than figures is told at once, beside the figures that the page has', () => {
  const { notifier, source, said } = setUp();
  source.revision = 2;
  source.detail = 'It ended.';
  notifier.changed();
  assert.deepEqual(said(), ['session 1']);
  notifier.figuresAnswered();
  assert.deepEqual(said(), ['session 2 with answers']);
  notifier.changed();
  assert.deepEqual(said(), [changed(2)], 'what was judged meanwhile is to be asked for, though no event came');
});

test('what was judged anew is requested at once, and what stands beside the page waits for it', () => {
  const { notifier, source, said } = setUp();
  const judged = JSON.stringify({ type: 'judged' });
  source.judged = 2;
  notifier.changed();
  assert.deepEqual(said(), [judged, changed(1)]);
  assert.ok(source.late);
  notifier.figuresRequested();
  [source.judged, source.detail] = [3, '1 leak'];
  notifier.changed();
  assert.deepEqual(said(), [judged, 'session 1']);
  assert.ok(source.late, 'also where more than figures changed');
});

test('a page that had no process gets the figures with it', () => {
  const { notifier, source, said } = setUp();
  source.revision = 2;
  source.processes.push({});
  notifier.changed();
  assert.deepEqual(said(), ['session 2']);
});

test('what is to be seen is told once more to a page that was loaded anew before it asked for anything', () => {
  const { notifier, said } = setUp();
  const focus = JSON.stringify({ type: 'focus' });
  notifier.queue({ type: 'focus' });
  notifier.sendTarget();
  notifier.sendTarget();
  assert.deepEqual(said(), [focus]);
  notifier.begin();
  notifier.sendTarget();
  assert.deepEqual(said(), ['session 1', focus]);
  notifier.acknowledged();
  notifier.begin();
  notifier.sendTarget();
  assert.deepEqual(said(), ['session 1']);
});
