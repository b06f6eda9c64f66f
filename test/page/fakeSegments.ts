// A segment map for the fake host: 300 segments of 2 MB to 1 GB with 10,000 blocks, some of them empty.
import type { BlockQuery } from '../../extension/protocol/requests/blockRequests';
import type { SegmentPicture } from '../../extension/protocol/requests/segmentRequests';
import type { AllocationWindow } from '../../extension/protocol/trace';
import { windowOf } from './fakeBlocks';

const MB = 1024 ** 2;
const SEGMENTS = 300;
const BLOCKS = 10_000;
const SIZES = [2, 20, 20, 64, 256, 1024];

interface Place {
  id: number;
  file: string;
  line: number;
  function: string;
}
interface Made {
  segment: number;
  offset: number;
  bytes: number;
  site: number;
  age: number;
}

let picture: SegmentPicture | null = null;

/** The same picture each time. */
export function segments(places: readonly Place[]): SegmentPicture {
  picture ??= make(places);
  return picture;
}

/** A block of the picture by its address. */
export function mapBlock({ address }: BlockQuery, runNs: number): AllocationWindow | null {
  const map = picture?.map;
  if (!map) return null;
  for (let i = 0; i < map.blocks.rows; i++) {
    const at = map.address[map.blocks.segment[i]!]! + BigInt(map.blocks.offsetBytes[i]!);
    if (at !== BigInt(address)) continue;
    const { bytes, site, ageSteps } = map.blocks;
    return windowOf([{ i, site: site[i]!, bytes: bytes[i]!, address: at, ageSteps: ageSteps[i]! }], 0, 1, runNs);
  }
  return null;
}

function make(places: readonly Place[]): SegmentPicture {
  const sizes = Array.from({ length: SEGMENTS }, (_, i) => SIZES[(i * 7) % SIZES.length]! * MB);
  const live = new Float64Array(SEGMENTS);
  const gaps = new Float64Array(SEGMENTS);
  const blocks: Made[] = [];
  const each = Math.ceil(BLOCKS / SEGMENTS);
  sizes.forEach((size, segment) => {
    if (segment % 29 === 28) return void (gaps[segment] = size);
    const slot = Math.floor(size / each / 512) * 512;
    let end = 0;
    for (let i = 0; i < each && blocks.length < BLOCKS; i++) {
      if ((segment + i) % 6 === 0) continue;
      const offset = i * slot;
      const bytes = i % 5 === 0 ? slot / 2 : slot;
      gaps[segment] = Math.max(gaps[segment]!, offset - end);
      end = offset + bytes;
      live[segment]! += bytes;
      blocks.push({ segment, offset, bytes, site: 1 + ((segment * 31 + i) % 40), age: (i * 13 + segment) % 120 });
    }
    gaps[segment] = Math.max(gaps[segment]!, size - end);
  });
  const shown = places.slice(0, 40);
  const numbers = (pick: (block: Made) => number): Float64Array => Float64Array.from(blocks, pick);
  return {
    map: {
      revision: 1,
      source: 'framework',
      segmentsLeftOut: 0,
      address: BigUint64Array.from(sizes, (_, i) => 0x7f0000000000n + BigInt(i) * 0x80000000n),
      bytes: Float64Array.from(sizes),
      liveBytes: live,
      largestGapBytes: gaps,
      stream: BigUint64Array.from(sizes, (_, i) => BigInt(i % 11 === 0 ? 0x55d0 : 0)),
      mapped: new Uint8Array(SEGMENTS),
      site: new Uint32Array(SEGMENTS).fill(1),
      pools: ['common pool', 'pool 1:0 (captured graph: runner.graphs[...])', 'unknown pool'],
      pool: Uint32Array.from(sizes, (_, i) => (i % 4 === 0 ? 1 : 0)),
      blocks: {
        rows: blocks.length,
        leftOut: 0,
        leftOutBytes: 0,
        outside: 0,
        outsideBytes: 0,
        segment: Uint32Array.from(blocks, block => block.segment),
        offsetBytes: numbers(block => block.offset),
        bytes: numbers(block => block.bytes),
        site: Uint32Array.from(blocks, block => block.site),
        ageSteps: numbers(block => block.age),
        category: Uint8Array.from(blocks, (_, i) => i % 8),
      },
    },
    places: {
      site: Uint32Array.from(shown, place => place.id),
      file: shown.map(place => place.file),
      line: Uint32Array.from(shown, place => place.line),
      function: shown.map(place => place.function),
    },
  };
}
