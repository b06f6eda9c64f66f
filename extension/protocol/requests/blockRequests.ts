// What the page may ask of single blocks. Addresses travel as text: a message of the page cannot hold a bigint.
import { flag, index, object, oneOf, Refused, rowWindow, text, time, type Checks, type Fields } from './checks';
import { momentField, type OfMoment } from './moment';
import { LAYERS } from '../trace';
import type { AllocationQuery, AllocationWindow } from '../trace';
import { MAX_ROWS } from './traceRequests';
import type { FindingHolder } from '../verdicts';

export interface BlockRequests {
  allocations(query: AllocationQuery & OfMoment): AllocationWindow;
  /** A window of the one live block at this address; null: it is not alive at that moment. */
  block(query: BlockQuery & OfMoment): AllocationWindow | null;
  /** The newest word of the program's agent on who holds the block; null: no answer names it. */
  blockHolder(query: HolderQuery): BlockHolder | null;
  /**
   * Asks the program about a live block: who holds it, what was asked for, its stream and pool. Null: it has answered, and the trace
   * holds what it said; else why it has not, in a sentence.
   */
  askBlock(query: BlockQuery): string | null;
  /** Puts a text on the clipboard. */
  copyText(of: { text: string }): void;
}

export interface BlockQuery {
  process: number;
  site: number;
  /** `0x7f…`. */
  address: string;
}
/** `timeNs`: when it was allocated; another block may have the same address later. */
export interface HolderQuery {
  process: number;
  address: string;
  timeNs: number;
}
export interface BlockHolder extends FindingHolder {
  /** From the object to the root, in the agent's words. */
  chain: string[];
  /** When the agent looked, nanoseconds of the session. */
  timeNs: number;
}

const SORTS: readonly AllocationQuery['sort'][] = ['bytes', 'age', 'address', 'step', 'name', 'site'];
const MOST_COPIED = 1 << 24;

export const blockChecks: Checks<BlockRequests> = {
  allocations: allocationQuery,
  block: params => ({ ...blockQuery(params, 'block'), ...momentField(object(params, 'block')) }),
  askBlock: params => blockQuery(params, 'askBlock'),
  blockHolder: params => {
    const from = object(params, 'blockHolder');
    return { process: index(from, 'process'), address: address(from, 'address'), timeNs: time(from, 'timeNs') };
  },
  copyText: params => ({ text: text(object(params, 'copyText'), 'text', MOST_COPIED) }),
};

function blockQuery(params: unknown, method: string): BlockQuery {
  const from = object(params, method);
  return { process: index(from, 'process'), site: index(from, 'site'), address: address(from, 'address') };
}

function allocationQuery(params: unknown): AllocationQuery & OfMoment {
  const from = object(params, 'allocations');
  const query: AllocationQuery & OfMoment = {
    sort: oneOf(from, 'sort', SORTS),
    descending: flag(from, 'descending'),
    ...rowWindow(from, MAX_ROWS),
    ...momentField(from),
  };
  if (from.layer !== undefined) query.layer = oneOf(from, 'layer', LAYERS);
  for (const name of ['process', 'device', 'thread', 'site'] as const)
    if (from[name] !== undefined) query[name] = index(from, name);
  return query;
}

function address(from: Fields, name: string): string {
  const value = from[name];
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,16}$/.test(value))
    throw new Refused(`${name} is an address, as 0x7f12`);
  return value;
}
