// Requests of the page about single blocks. Addresses travel as text: a message of the page cannot hold a bigint.
import { ALLOCATION_SORTS, LAYERS, type AllocationQuery, type AllocationWindow } from '../trace';
import type { FindingHolder } from '../verdicts';
import type { Check, Checks, Fielded } from './fieldChecks';
import { flag, index, object, oneOf, optional, Refused, rowWindow, text, time } from './fieldChecks';
import { MOMENT, type OfMoment } from './moment';
import { MAX_ROWS } from './traceRequests';

export interface BlockRequests {
  allocations(query: AllocationQuery & OfMoment): AllocationWindow;
  /** A window of the one live block at this address; null: it is not alive at that moment. */
  block(query: BlockQuery & OfMoment): AllocationWindow | null;
  /** The holder of the block by the newest answer of the program's agent; null: no answer names it. */
  blockHolder(query: HolderQuery): BlockHolder | null;
  /**
   * Queries the program about a live block: its holder, requested bytes, stream and pool. Null: it has answered, and the trace
   * holds the answer; else why it has not, in a sentence.
   */
  inspectBlock(query: BlockQuery): string | null;
  /** Puts a text on the clipboard. */
  copyText(of: { text: string }): void;
}

export type BlockQuery = Fielded<typeof BLOCK>;
export type HolderQuery = Fielded<typeof HOLDER>;
export interface BlockHolder extends FindingHolder {
  /** From the object to the root, in the agent's words. */
  chain: string[];
  /** When the agent searched, nanoseconds of the session. */
  timeNs: number;
}

const MOST_COPIED = 1 << 24;

const address: Check<string> = (value, name) => {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,16}$/.test(value)) return value;
  throw new Refused(`${name} must be an address, such as 0x7f12`);
};
/** `address`: as `0x7f…`. */
const BLOCK = { process: index, site: index, address };
/** `timeNs`: when it was allocated; another block may have the same address later. */
const HOLDER = { process: index, address, timeNs: time };

export const blockChecks: Checks<BlockRequests> = {
  allocations: rowWindow(
    MAX_ROWS,
    object({
      layer: optional(oneOf(...LAYERS)),
      process: optional(index),
      device: optional(index),
      thread: optional(index),
      site: optional(index),
      sort: oneOf(...ALLOCATION_SORTS),
      descending: flag,
      from: index,
      to: index,
      ...MOMENT,
    }),
  ),
  block: object({ ...BLOCK, ...MOMENT }),
  inspectBlock: object(BLOCK),
  blockHolder: object(HOLDER),
  copyText: object({ text: text(MOST_COPIED) }),
};
