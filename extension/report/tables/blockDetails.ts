import { formatBytes, formatCount } from '../../text/format';
import { STREAM_UNKNOWN } from '../../protocol/streams';
import { allocationRows, type TraceSource } from '../../protocol/trace';
import { sum } from '../../analysis/series/statistics';

/** What a framework’s allocator reports of some blocks; null where it reports nothing of any. */
export type BlockDetails = ReturnType<typeof blockDetails>;

const MOST_ROWS = 4096;
const HEX = 16;

/** Of blocks of these sites, what the trace has recorded. */
export function blockDetails(
  source: Pick<TraceSource, 'allocations'>,
  process: number,
  sites: readonly number[],
  blocks: readonly { address: bigint }[],
) {
  const addresses = new Set(blocks.map(({ address }) => address));
  const all = sites.flatMap(site =>
    allocationRows(source.allocations({ process, site, sort: 'age', descending: true, from: 0, to: MOST_ROWS })),
  );
  const rows = all.filter(({ address }) => addresses.has(address));
  const sized = rows.filter(({ askedBytes }) => !Number.isNaN(askedBytes));
  const streams = rows.flatMap(({ stream }) => (stream === STREAM_UNKNOWN ? [] : [`0x${stream.toString(HEX)}`]));
  const pools = rows.flatMap(({ pool }) => (pool === '' ? [] : [pool]));
  const some = (names: string[]): string[] | null => (names.length === 0 ? null : [...new Set(names)].sort());
  const total = (of: number[]): number | null => (of.length === 0 ? null : sum(of));
  return {
    /** How many blocks these are, and of how many of them both numbers of bytes are known. */
    blocks: blocks.length,
    sized: sized.length,
    /** Requested in all, and handed out for it, of the blocks of which it is known. */
    askedBytes: total(sized.map(({ askedBytes }) => askedBytes)),
    bytes: total(sized.map(({ bytes }) => bytes)),
    streams: some(streams),
    /** `0:0` is the pool of all, others are of a CUDA graph or a MemPool. */
    pools: some(pools),
  };
}

/** `The program requested 500 B in all; the allocator rounded that up to 512 B. Stream: default. Pool: default.` */
export function detailsText({ blocks, sized, askedBytes, bytes, streams, pools }: BlockDetails): string {
  const sentences: string[] = [];
  if (askedBytes !== null && bytes !== null) {
    const scope = sized === blocks ? 'in all' : `in ${formatCount(sized)} of the ${formatCount(blocks)} blocks`;
    const rounded =
      askedBytes === bytes ? 'the allocator returned exactly that' : `the allocator rounded that up to ${exact(bytes)}`;
    sentences.push(`The program requested ${exact(askedBytes)} ${scope}; ${rounded}.`);
  }
  const usual = 'default';
  const ofStreams = streams?.map(stream => (stream === '0x0' ? usual : stream));
  const ofPools = pools?.map(pool => (pool === '0:0' ? usual : `${pool} (of a CUDA graph or a MemPool)`));
  if (ofStreams) sentences.push(`Stream: ${ofStreams.join(', ')}.`);
  if (ofPools) sentences.push(`Pool: ${ofPools.join(', ')}.`);
  const known = { 'the requested size': askedBytes, 'the stream': streams, 'the pool': pools };
  const missing = Object.entries(known).flatMap(([name, value]) => (value === null ? [name] : []));
  if (missing.length > 0) sentences.push(`Not recorded: ${new Intl.ListFormat('en').format(missing)}.`);
  return sentences.join(' ');
}

function exact(bytes: number): string {
  return bytes < 1024 ? formatBytes(bytes) : `${formatBytes(bytes)} (${formatCount(bytes)} bytes)`;
}
