// The call tree of the program, weighed by memory: what the tree of stacks and the flame graph are drawn from.
import { index, listOf, object, oneOf, optional, Refused, SCOPE, text, type Check, type Checks } from './fieldChecks';
import { MOMENT, type OfMoment } from './moment';
import { LAYERS, type Frame, type Layer } from '../trace';

/** live: bytes alive now; peak: the sum of each stack's own peak; churn: all bytes ever allocated; modules: bytes alive now by module instead of by call. */
export type TreeWeight = (typeof TREE_WEIGHTS)[number];
export const TREE_WEIGHTS = ['live', 'peak', 'churn', 'modules'] as const;

export interface StackTreeQuery {
  layer: Layer;
  weight: TreeWeight;
  /** Nodes that hold a smaller part of the whole (0 to 1) are left out; their bytes stay in the totals above them. */
  minShare: number;
  /** Ids of nodes: only the outermost nodes and the children of these are sent. Absent: all nodes. */
  open?: number[];
  /** Only stacks that match, as in SiteQuery. */
  filter?: string;
  /** -1 or absent = all. */
  process?: number;
  device?: number;
}

/** Nodes as columns, one entry a node; a node stands behind its parent. Weights are bytes. */
export interface StackTree {
  revision: number;
  nodes: number;
  /** Of everything that matches, also of what is left out. */
  totalBytes: number;
  totalCount: number;
  /** Names the node for as long as the trace is open, at any weight and moment. */
  id: Uint32Array;
  /** Index of the caller in these columns, -1: outermost. */
  parent: Int32Array;
  /** Index in `frames`. */
  frame: Uint32Array;
  /** Allocated by the frame itself; by it and by all that it calls. */
  selfBytes: Float64Array;
  sumBytes: Float64Array;
  /** Blocks alive at or below the node. */
  liveCount: Float64Array;
  /** Nodes that it calls and that are not left out. */
  children: Uint32Array;
  /** The heaviest site at or below it, whose stack can be requested. */
  site: Uint32Array;
  /** Each once; empty file, line 0: no Python in the stack. */
  frames: Frame[];
}

export interface TreeRequests {
  stackTree(query: StackTreeQuery & OfMoment): StackTree;
}

const MAX_OPEN = 20_000;

const share: Check<number> = (value, name) => {
  if (typeof value === 'number' && value >= 0 && value <= 1) return value;
  throw new Refused(`${name} must be a number from 0 to 1`);
};

export const treeChecks: Checks<TreeRequests> = {
  stackTree: object({
    layer: oneOf(...LAYERS),
    weight: oneOf(...TREE_WEIGHTS),
    minShare: share,
    open: optional(listOf(MAX_OPEN, 'node', index)),
    filter: optional(text()),
    ...SCOPE,
    ...MOMENT,
  }),
};
