import assert from 'node:assert/strict';
import { blockDetails, detailsText } from '../../../extension/report/tables/blockDetails';
import { STREAM_UNKNOWN } from '../../../extension/protocol/streams';
import { FakeTrace, makeInfo, type FakeAllocation } from '../fakeTrace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const allocation = (address: bigint): FakeAllocation => {
  return { address, bytes: 512, thread: 0, process: 0, layer: 'tensor', site: 1, timeNs: 0, device: 0 };
};
interface BlockExtras {
  bytes: number;
  stream: bigint;
  pool: string;
}
const unrecorded: BlockExtras = { bytes: NaN, stream: STREAM_UNKNOWN, pool: '' };

function details(extras: readonly BlockExtras[], addresses: readonly bigint[]): ReturnType<typeof blockDetails> {
  const trace = new FakeTrace(
    makeInfo({}),
    extras.map((_, i) => allocation(BigInt(i + 1))),
  );
  const source = {
    allocations: (query: Parameters<FakeTrace['allocations']>[0]) => ({
      ...trace.allocations(query),
      askedBytes: Float64Array.from(extras, one => one.bytes),
      stream: BigUint64Array.from(extras, one => one.stream),
      pool: extras.map(one => one.pool),
    }),
  };
  return blockDetails(
    source,
    0,
    [1],
    addresses.map(address => ({ address })),
  );
}

test('bytes are summed over the blocks of which they are known, of those that were asked for', () => {
  const extras = [{ bytes: 500, stream: 0n, pool: '0:0' }, unrecorded, { bytes: 100, stream: 0x55n, pool: '0:3' }];
  assert.deepEqual(details(extras, [1n, 2n]), {
    blocks: 2,
    sized: 1,
    askedBytes: 500,
    bytes: 512,
    streams: ['0x0'],
    pools: ['0:0'],
  });
  const all = details(extras, [1n, 2n, 3n]);
  assert.deepEqual(all, {
    blocks: 3,
    sized: 2,
    askedBytes: 600,
    bytes: 1024,
    streams: ['0x0', '0x55'],
    pools: ['0:0', '0:3'],
  });
  assertSentence(detailsText(all));
});

test('what nobody told is not recorded', () => {
  const none = details([unrecorded], [1n]);
  assert.deepEqual(none, { blocks: 1, sized: 0, askedBytes: null, bytes: null, streams: null, pools: null });
  assertSentence(detailsText(none));
});
