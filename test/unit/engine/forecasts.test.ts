// "Would it fit?" as a page requests it: the thread reads and replays a recording of a graph network with batch 20.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Forecasts } from '../../../extension/engine/forecasts';
import { loadNative } from '../../../extension/native/addon';
import { TraceSession } from '../../../extension/native/traceSession';
import type { ForecastAnswer, ForecastQuery } from '../../../extension/protocol/requests/forecastRequests';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const root = process.cwd();
const dist = join(root, 'dist');
const folder = mkdtempSync(join(tmpdir(), 'forecasts-'));
after(() => rmSync(folder, { recursive: true }));

const RECORDED = 666_894_336;
const AS_RECORDED: ForecastQuery = { gpuBytes: null, batch: null, factor: 1, expandable: false, checkpoint: null };

async function opened(): Promise<{ session: TraceSession; forecasts: Forecasts }> {
  const file = join(folder, 'batch20.gputrace');
  writeFileSync(file, gunzipSync(readFileSync(join(root, 'test/golden/fit/graphnet20.gputrace.gz'))));
  const loaded = loadNative(dist);
  assert.ok('addon' in loaded);
  const session = new TraceSession(loaded.addon, file);
  await session.native.settle();
  return { session, forecasts: new Forecasts(dist, session) };
}

async function made(forecasts: Forecasts, query: Partial<ForecastQuery> = {}): Promise<ForecastAnswer> {
  for (;;) {
    const answer = await forecasts.answer({ ...AS_RECORDED, ...query });
    if (!answer.working) return answer;
  }
}

test('a forecast has the recorded peak, the largest batch of each way, and follows the query', async () => {
  const { session, forecasts } = await opened();
  try {
    const { forecast } = await made(forecasts);
    assert.ok(forecast?.fits);
    assert.equal(forecast.reservedBytes, RECORDED);
    assertSentence(forecast.best);
    assert.deepEqual([forecast.modules, forecast.expandable, forecast.ways.length], [['*'], false, 5]);
    const bigger = (await made(forecasts, { factor: 4 })).forecast;
    assert.ok(bigger && bigger.reservedBytes > 2 * RECORDED);
    const small = (await made(forecasts, { gpuBytes: 2 ** 31, batch: 20, factor: 4 })).forecast;
    assert.ok(small);
    assert.equal(small.fits, false);
    assert.ok(small.best.endsWith(`: ${small.ways[0]?.largest}`), small.best);
    const largest = small.ways.map(way => Number(way.largest));
    assert.ok(largest[0]! > 40 && largest[0]! < 80 && largest[3]! >= largest[0]!, largest.join());
    const fits = small.ways.map(way => way.fits);
    assert.deepEqual(
      fits,
      largest.map(batch => batch >= 80),
      'with the batch that is tried',
    );
    assert.ok(fits.includes(true) && small.ways[0]!.peakBytes > 2 * RECORDED);
    const saved = await made(forecasts, { gpuBytes: 2 ** 31, batch: 20, factor: 4, checkpoint: '*', expandable: true });
    assert.ok(saved.forecast && saved.forecast.reservedBytes < small.reservedBytes);
  } finally {
    forecasts.cancel();
    session.close();
  }
});

test('a forecast that is stopped is made anew when it is requested again', async () => {
  const { session, forecasts } = await opened();
  try {
    const first = made(forecasts);
    await new Promise(done => setImmediate(done));
    forecasts.cancel();
    assert.equal((await first).forecast, null);
    assert.equal((await made(forecasts)).forecast?.reservedBytes, RECORDED);
  } finally {
    forecasts.cancel();
    session.close();
  }
});
