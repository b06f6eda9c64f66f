import assert from 'node:assert/strict';
import type { PageActions } from '../../../webview/explorer/state/part';
import { MomentReader } from '../../../webview/explorer/timeline/timelineMoment';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

interface Script {
  /** Answers of `peakInside` and `exactPeak`. */
  peaks?: object[];
  /** So many times a moment is not read yet. */
  slow?: number;
  /** Called at each pause. */
  onPause?: (reader: MomentReader) => void;
}

function begin({ peaks = [], slow = 0, onPause }: Script) {
  const asked: string[] = [];
  const shown: unknown[] = [];
  const progress: unknown[] = [];
  let left = slow;
  const page = {
    request: (method: string, params: unknown) => {
      asked.push(method);
      if (method === 'readMoment') return Promise.resolve({ done: left-- <= 0, readNs: 1, untilNs: 4 });
      if (method === 'peakInside' || method === 'exactPeak') return Promise.resolve(peaks.shift());
      return Promise.resolve(params);
    },
    dispatch: (action: unknown) => shown.push(action),
  } as unknown as PageActions;
  const reader: MomentReader = new MomentReader(
    page,
    reading => progress.push(reading),
    () => {
      onPause?.(reader);
      return Promise.resolve();
    },
  );
  return { reader, asked, shown, progress };
}

const then = { moment: { kind: 'at' as const, timeNs: 4 }, title: 'then' };

test('a moment is shown when it is read, and how far that is meanwhile', async () => {
  const { reader, asked, shown, progress } = begin({ slow: 2 });
  await reader.show(then);
  assert.deepEqual(asked, ['readMoment', 'readMoment', 'readMoment']);
  assert.deepEqual(shown, [{ type: 'moment', ...then }]);
  assert.equal(progress.length, 3);
  assert.equal(progress[2], null);
});

test('after cancel nothing is shown, and the host is told', async () => {
  const { reader, asked, shown } = begin({ slow: 9, onPause: one => one.cancel() });
  await reader.show(then);
  assert.deepEqual([asked, shown], [['readMoment', 'cancelMoments'], []]);
});

test('of two wishes the later one is shown', async () => {
  const { reader, shown } = begin({ slow: 1 });
  await Promise.all([reader.show(then), reader.show({ ...then, title: 'later' })]);
  assert.deepEqual(shown, [{ type: 'moment', ...then, title: 'later' }]);
});

/** The only moment that is shown, without its title, which is a sentence. */
function untitled(shown: readonly unknown[]): object {
  assert.equal(shown.length, 1);
  const { title, ...rest } = shown[0] as { title: string };
  assertSentence(title);
  return rest;
}

test('a peak of long ago is looked for again; where its time stays unknown the title says so', async () => {
  const query = { series: 'tensor' as const, fromNs: 0, toNs: 9e6 };
  const found = { fromNs: 7, toNs: 7, bytes: 1024 };
  const exact = begin({ peaks: [found, { done: true, readNs: 1, untilNs: 1, peak: found }] });
  await exact.reader.showPeak(query, () => 'in step 3');
  assert.deepEqual(exact.asked, ['peakInside', 'exactPeak', 'readMoment']);
  assert.deepEqual(untitled(exact.shown), { type: 'moment', moment: { kind: 'at', timeNs: 107, peak: true } });
  const spanned = begin({ peaks: [found, { done: true, readNs: 1, untilNs: 1, peak: found }] });
  await spanned.reader.showPeak(query, () => '', 9);
  assert.deepEqual(untitled(spanned.shown), { type: 'moment', moment: { kind: 'at', timeNs: 9, peak: true } });

  const coarse = { fromNs: 0, toNs: 5e6, bytes: 1024 };
  const peak = { fromNs: 10, toNs: 66_010, bytes: 1024 };
  const about = begin({ peaks: [coarse, { done: true, readNs: 1, untilNs: 1, peak }] });
  await about.reader.showPeak(query, () => '');
  assert.deepEqual(about.asked, ['peakInside', 'exactPeak', 'readMoment']);
  assert.deepEqual(untitled(about.shown), { type: 'moment', moment: { kind: 'at', timeNs: 66_110, peak: true } });
});

test('what the host refuses is not shown', async () => {
  const { reader, shown } = begin({ peaks: [] });
  await reader.showPeak({ series: 'tensor', fromNs: 0, toNs: 9 }, () => '');
  assert.deepEqual(shown, []);
});
