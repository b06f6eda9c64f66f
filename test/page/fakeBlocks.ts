// Blocks and ledgers for the fake host: each site has as many live blocks as its id modulo 500, plus one.
import type { BlockHolder, BlockQuery, HolderQuery } from '../../extension/protocol/requests/blockRequests';
import type { CardLedger, LedgerPart } from '../../extension/protocol/requests/ledgerRequests';
import { allocationWindow, type AllocationRow } from '../../extension/protocol/trace';
import type { AllocationQuery, AllocationWindow } from '../../extension/protocol/trace';

const GB = 1024 ** 3;
const BASE = 0x7f0000000000n;

/** Card 0 with figures of NVML and one stacked bar; card 1 without; the size of card 2 is not known. */
export function ledger(
  biggest: readonly { file: string; line: number; function: string }[],
  cards: number,
): CardLedger[] {
  const lines = biggest.map((one, i) => ({ ...one, library: '', site: i + 1, bytes: (0.6 - 0.3 * i) * GB }));
  const libraries = [
    { path: '/usr/lib/libnccl.so.2', name: 'NCCL (libnccl.so.2)', bytes: 1.5 * GB, bytesPerStep: 2 * 1024 ** 2 },
    { path: '', name: 'other', bytes: 0.5 * GB, bytesPerStep: null },
  ];
  const part = (kind: LedgerPart['kind'], bytes: number, more: Partial<LedgerPart> = {}): LedgerPart => {
    return { kind, bytes: bytes * GB, bytesPerStep: null, lines: [], libraries: [], ...more };
  };
  const known: CardLedger = {
    device: 0,
    name: 'NVIDIA H200',
    totalBytes: 24 * GB,
    overBytes: 0,
    parts: [
      part('tensor', 7.4, { bytesPerStep: 30.2 * 1024 ** 2 }),
      part('cached', 2.2, { bytesPerStep: 0 }),
      part('driver', 2, { bytesPerStep: null, lines, libraries }),
      part('rest', 0.6),
      part('others', 1.8),
      part('free', 10),
    ],
  };
  const dark: CardLedger = {
    device: 1,
    name: 'NVIDIA H200',
    totalBytes: 24 * GB,
    overBytes: 0,
    parts: [part('tensor', 1.1), part('cached', 0.5), part('driver', 0.6), part('unknown', 21.8)],
  };
  const { parts } = known;
  const sizeless: CardLedger = { device: 2, name: 'GPU', totalBytes: 0, overBytes: 9.6 * GB, parts: parts.slice(0, 2) };
  return [known, dark, sizeless].slice(0, cards);
}

function blocksOf(site: number): MadeBlock[] {
  return Array.from({ length: 1 + (site % 500) }, (_, i) => ({
    i,
    site,
    bytes: 512 * (1 + ((i * 7919 + site) % 4096)),
    address: BASE + BigInt(site) * 0x4000000n + BigInt(i) * 0x200000n,
    ageSteps: (i * 31) % 97,
  }));
}

export function liveBlocks(query: AllocationQuery, runNs: number): AllocationWindow {
  const key: Record<AllocationQuery['sort'], (one: MadeBlock) => number> = {
    bytes: one => one.bytes,
    age: one => one.ageSteps,
    address: one => one.i,
  };
  const order = query.descending ? -1 : 1;
  const all = blocksOf(query.site ?? 1).sort((a, b) => order * (key[query.sort](a) - key[query.sort](b)));
  return windowOf(all, query.from, query.to, runNs);
}

export function oneBlock({ site, address }: BlockQuery, runNs: number): AllocationWindow | null {
  const found = blocksOf(site).filter(one => one.address === BigInt(address));
  return found.length === 0 ? null : windowOf(found, 0, 1, runNs);
}

/** Each second block of a site has a holder. */
export function blockHolder({ address }: HolderQuery): BlockHolder | null {
  if (BigInt(address) % 0x400000n !== 0n) return null;
  return {
    path: 'train.py, main(): epoch_loss[311]',
    kind: 'local',
    file: '/home/user/project/train.py',
    line: 48,
    function: 'main',
    length: 312,
    bound: null,
    chain: ['Tensor', 'AddBackward0.next_functions', 'list[311]', 'local epoch_loss of main()'],
    timeNs: 400e9,
  };
}

export interface MadeBlock {
  i: number;
  site: number;
  bytes: number;
  address: bigint;
  ageSteps: number;
}

export function windowOf(all: readonly MadeBlock[], from: number, to: number, runNs: number): AllocationWindow {
  const rows = all.slice(from, to).map(({ i, site, bytes, address, ageSteps }): Partial<AllocationRow> => {
    const reported = i % 2 === 0;
    const named = i % 3 === 0;
    return {
      address,
      bytes,
      site,
      timeNs: runNs - ageSteps * 1e9,
      stream: BigInt(i % 2) * 0x55d0n,
      askedBytes: reported ? bytes - 100 : NaN,
      pool: reported ? '0:0' : '',
      kind: 1,
      step: 412 - ageSteps,
      ageSteps,
      name: named ? `encoder.layers.${i}.linear1.weight` : '',
      category: named ? 'parameter' : 'activation',
    };
  });
  return allocationWindow(rows, { total: all.length, sumBytes: all.reduce((sum, one) => sum + one.bytes, 0) });
}
