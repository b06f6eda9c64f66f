import { allocationRows, type TraceSource } from '../../protocol/trace';
import type { Finding } from '../../protocol/verdicts';
import { sum } from './statistics';

/** A live block, as a question to the agent names it. */
export interface Survivor {
  address: bigint;
  bytes: number;
  device: number;
  /** Of its allocation, innermost first. */
  lines: { file: string; line: number }[];
  /** Of its allocation. */
  step?: number;
}

/** Blocks that are read for each site, and that one question to the agent names. */
const MOST_BLOCKS = 4096;
const MOST = 200;
/** So many lines from the innermost one outward, and from what the program called: its own line, and the library's inside it. */
const MOST_LINES = 8;

/** Up to 200 live blocks that a finding is about, spread over all of them. */
export function survivorsOf(
  source: TraceSource,
  finding: Pick<Finding, 'process' | 'sites' | 'sinceStep'>,
): Survivor[] {
  const { process, sites, sinceStep } = finding;
  const found = sites.flatMap(site => liveBlocks(source, process, site, sinceStep));
  return spread(found, MOST);
}

/** How many blocks of these sites are alive in all, of which `blocks` were chosen. */
export function aliveOf(
  source: TraceSource,
  { process, sites }: Pick<Finding, 'process' | 'sites'>,
  blocks: readonly Survivor[],
): number {
  if (blocks.length < MOST) return blocks.length;
  const counts = sites.map(site =>
    source.allocations({ process, site, sort: 'age', descending: true, from: 0, to: 0 }),
  );
  return Math.max(blocks.length, sum(counts.map(({ total }) => total)));
}

/** The live tensor at an address with its site; null: none is there. */
export function tensorAt(
  source: Pick<TraceSource, 'blocks' | 'site'>,
  process: number,
  address: bigint,
): { site: number; block: Survivor } | null {
  const [block] = source.blocks({ process, addresses: [address] });
  if (!block?.known || !block.alive) return null;
  const lines = (source.site(block.site)?.frames ?? []).map(({ file, line }) => ({ file, line }));
  const { site, bytes, device } = block;
  return { site, block: { address, bytes, device, lines } };
}

/**
 * Live blocks of a site; with `since` those that were allocated from that step on, and not those of the running step and the
 * one before it, if others are there.
 */
function liveBlocks(source: TraceSource, process: number, site: number, since: number | null): Survivor[] {
  const window = source.allocations({ process, site, sort: 'age', descending: true, from: 0, to: MOST_BLOCKS });
  const { frames, userFrame } = source.site(site) ?? { frames: [], userFrame: 0 };
  const lines = frames
    .filter((_, place) => place < MOST_LINES || (place >= userFrame - 1 && place < userFrame + MOST_LINES))
    .filter(({ file, line }) => line > 0 && !file.startsWith('<'))
    .map(({ file, line }) => ({ file, line }));
  const blocks = allocationRows(window).filter(({ step }) => step >= (since ?? 0));
  const old = since === null ? blocks : blocks.filter(({ ageSteps }) => ageSteps >= 2);
  const chosen = spread(old.length > 0 ? old : blocks, MOST);
  return chosen.map(({ address, bytes, device, step }) => ({ address, bytes, device, lines, step }));
}

/** At most so many of a list, evenly over all of it. */
function spread<T>(list: readonly T[], most: number): T[] {
  if (list.length <= most) return [...list];
  return Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)] as T);
}
