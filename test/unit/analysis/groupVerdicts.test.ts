// Verdicts of rows that are no lines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupVerdicts, otherLines } from '../../../extension/analysis/findings/rowVerdicts';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import { siteRows, type GroupBy } from '../../../extension/protocol/trace';
import type { Finding, SiteVerdict } from '../../../extension/protocol/verdicts';
import { FakeTrace, makeInfo, makeProcess, makeSite, makeTotals, type FakeAllocation } from '../fakeTrace';

const MB = 1024 * 1024;
const file = '/x/train.py';
const sites = [1, 2].map(id => makeSite({ id, frames: [{ file, line: 10 + id, function: 'step' }], userFrame: 0 }));
const block = (i: number, thread: number, device: number): FakeAllocation => {
  const address = BigInt(4096 * (i + 1));
  return { address, bytes: MB, process: 0, thread, device, layer: 'tensor', site: 1, timeNs: i };
};
// Of four blocks thread 0 made one, and thread 1 three, all on one device.
const blocks = [0, 1, 1, 1].map((thread, i) => block(i, thread, 0));
const source = new FakeTrace(
  makeInfo({ processes: [makeProcess({})], totals: [makeTotals({ allocations: 4 })] }),
  blocks,
  sites,
);
const growing: SiteVerdict = {
  ...{ site: 1, process: 0, layer: 'tensor', state: 'rising', grows: 'blocks', bytesPerStep: 4 * MB },
  ...{ sinceStep: 1, rises: 20, risenBytes: 0, period: 1, confidence: 1, because: '' },
};
const verdicts = { ...judgeTrace(source), sites: new Map([[1, growing]]) };

function of(by: GroupBy, places: { thread?: number; process?: number; device?: number }[]): unknown[] {
  const [row] = siteRows(
    source.sites({ layer: 'tensor', groupBy: by, sort: 'liveBytes', descending: true, from: 0, to: 1 }),
  );
  const rows = places.map(place => ({ ...row!, ...place }));
  return groupVerdicts(source, verdicts, rows, by).map(found => found && [found.state, found.bytesPerStep / MB]);
}

test('a site that several threads work at grows for each by its part of the blocks', () => {
  assert.deepEqual(of('thread', [{ thread: 0 }, { thread: 1 }, { thread: 2 }]), [['rising', 1], ['rising', 3], null]);
  assert.deepEqual(of('process', [{ process: 0 }, { process: 1 }]), [['rising', 4], null]);
  assert.deepEqual(of('device', [{ device: 0 }, { device: 1 }]), [['rising', 4], null]);
});

test('a leak is worse than what grows so far, however much that is', () => {
  verdicts.sites.set(2, { ...growing, site: 2, state: 'growing', bytesPerStep: MB });
  for (const by of ['function', 'file'] as const) assert.deepEqual(of(by, [{}]), [['growing', 5]]);
});

test('the bytes of other lines are of the moment that is shown, not of an end that has freed them', () => {
  const one = { ...growing, state: 'one-shot' } as const;
  const judged = { ...verdicts, sites: new Map([[1, one]]) };
  const shown = new FakeTrace(source.info(), [{ ...blocks[0]!, bytes: 8 * MB }], sites);
  const lines = otherLines(source, judged, { layer: 'tensor', places: [] } as unknown as Finding, shown);
  assert.deepEqual(
    lines.map(({ state, liveBytes }) => [state, liveBytes / MB]),
    [['one-shot', 8]],
  );
});
