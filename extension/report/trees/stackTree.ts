// The call tree of a trace's sites, outermost frames at the top, weighed by live, peak or churned bytes.
import type { Frame, SiteQuery, SiteSort } from '../../protocol/trace';
import type { StackTree, StackTreeQuery, TreeWeight } from '../../protocol/requests/treeRequests';
import type { CallTree, TreeSource, TreeWindow } from './callTree';
import { sum } from '../../analysis/series/statistics';

const SORTS: Record<TreeWeight, SiteSort> = {
  live: 'liveBytes',
  peak: 'peakBytes',
  churn: 'allocatedBytes',
  modules: 'liveBytes',
};
const MOST_SITES = 1_000_000;

/** What each node of the call tree holds; parallel to the tree's nodes. */
type Weights = ReturnType<typeof emptyWeights>;

export type TreeQuery = StackTreeQuery & Pick<SiteQuery, 'bornFromNs' | 'bornToNs'>;

/** The nodes that hold at least `minShare` of the whole. `tree` is kept for as long as the trace is open. */
export function stackTree(tree: CallTree, source: TreeSource, query: TreeQuery): StackTree {
  const window = source.sites(siteQuery(query));
  const weights = weigh(tree, source, window, query.weight);
  const totalBytes = sum(bytesOf(window, query.weight));
  const shown = shownNodes(tree, weights, totalBytes * query.minShare);
  const nodes = opened(tree, shown, query.open);
  return answer(tree, weights, nodes, shownChildren(tree, shown), {
    revision: window.revision,
    totalBytes,
    totalCount: sum(window.liveCount),
  });
}

function siteQuery({ weight, minShare: _, open: __, ...rest }: TreeQuery): SiteQuery {
  const order = { sort: SORTS[weight], descending: true, includeDead: weight === 'peak' || weight === 'churn' };
  return { ...rest, ...order, groupBy: 'site', from: 0, to: MOST_SITES };
}

function bytesOf(window: TreeWindow, weight: TreeWeight): Float64Array {
  return window[SORTS[weight] as 'liveBytes' | 'peakBytes' | 'allocatedBytes'];
}

function weigh(tree: CallTree, source: TreeSource, window: TreeWindow, weight: TreeWeight): Weights {
  const bytes = bytesOf(window, weight);
  const leaves = tree.leavesOf(source, window.id);
  const weights = emptyWeights(tree.size);
  leaves.forEach((leaf, row) => {
    weights.selfBytes[leaf]! += bytes[row]!;
    weights.liveCount[leaf]! += window.liveCount[row]!;
    prefer(weights, leaf, window.id[row]!, bytes[row]!);
  });
  weights.sumBytes.set(weights.selfBytes);
  // A node is younger than its parent, so that one way back adds everything up.
  for (let node = tree.size - 1; node >= 0; node--) {
    const parent = tree.parent(node);
    if (parent < 0) continue;
    weights.sumBytes[parent]! += weights.sumBytes[node]!;
    weights.liveCount[parent]! += weights.liveCount[node]!;
    prefer(weights, parent, weights.site[node]!, weights.siteBytes[node]!);
  }
  return weights;
}

function emptyWeights(nodes: number) {
  const floats = (): Float64Array => new Float64Array(nodes);
  // The site is the heaviest one at or below, with its bytes.
  const heaviest = { site: new Uint32Array(nodes), siteBytes: floats().fill(-1) };
  return { selfBytes: floats(), sumBytes: floats(), liveCount: floats(), ...heaviest };
}

function prefer({ site, siteBytes }: Weights, node: number, id: number, bytes: number): void {
  if (bytes <= siteBytes[node]!) return;
  site[node] = id;
  siteBytes[node] = bytes;
}

/** Flags of the nodes that a site was found below, and that hold enough. */
function shownNodes(tree: CallTree, { sumBytes, siteBytes }: Weights, least: number): Uint8Array {
  const shown = new Uint8Array(tree.size);
  for (let node = 0; node < tree.size; node++) shown[node] = siteBytes[node]! >= 0 && sumBytes[node]! >= least ? 1 : 0;
  return shown;
}

/** Of the shown nodes, in order, those whose callers are all in `open`. */
function opened(tree: CallTree, shown: Uint8Array, open: readonly number[] | undefined): Uint32Array {
  const nodes = new Uint32Array(tree.size);
  let count = 0;
  const openNodes = open && new Set(open);
  const here = new Uint8Array(tree.size);
  for (let node = 0; node < tree.size; node++) {
    const parent = tree.parent(node);
    if (!shown[node] || (parent >= 0 && !(here[parent] && (openNodes?.has(parent) ?? true)))) continue;
    here[node] = 1;
    nodes[count++] = node;
  }
  return nodes.slice(0, count);
}

function answer(
  tree: CallTree,
  weights: Weights,
  id: Uint32Array,
  children: Uint32Array,
  facts: Pick<StackTree, 'revision' | 'totalBytes' | 'totalCount'>,
): StackTree {
  const { frame, frames } = framesOf(tree, id);
  return {
    ...facts,
    nodes: id.length,
    id,
    parent: parentsOf(tree, id),
    frame,
    selfBytes: pick(weights.selfBytes, id, new Float64Array(id.length)),
    sumBytes: pick(weights.sumBytes, id, new Float64Array(id.length)),
    liveCount: pick(weights.liveCount, id, new Float64Array(id.length)),
    children: pick(children, id, new Uint32Array(id.length)),
    site: pick(weights.site, id, new Uint32Array(id.length)),
    frames,
  };
}

/** How many shown nodes each node calls. */
function shownChildren(tree: CallTree, shown: Uint8Array): Uint32Array {
  const children = new Uint32Array(tree.size);
  for (let node = 0; node < tree.size; node++) {
    const parent = tree.parent(node);
    if (shown[node] && parent >= 0) children[parent]!++;
  }
  return children;
}

/** Where the parent of each node stands among the nodes. */
function parentsOf(tree: CallTree, id: Uint32Array): Int32Array {
  const place = new Int32Array(tree.size);
  const parents = new Int32Array(id.length);
  for (let index = 0; index < id.length; index++) {
    const parent = tree.parent(id[index]!);
    place[id[index]!] = index;
    parents[index] = parent < 0 ? -1 : place[parent]!;
  }
  return parents;
}

/** The frames of the nodes, each once. */
function framesOf(tree: CallTree, id: Uint32Array): { frame: Uint32Array; frames: Frame[] } {
  const frames: Frame[] = [];
  const place = new Int32Array(tree.frames.length).fill(-1);
  const frame = new Uint32Array(id.length);
  for (let index = 0; index < id.length; index++) {
    const number = tree.frame(id[index]!);
    if (place[number]! < 0) place[number] = frames.push(tree.frames[number]!) - 1;
    frame[index] = place[number]!;
  }
  return { frame, frames };
}

function pick<T extends Float64Array | Uint32Array>(from: T, nodes: Uint32Array, to: T): T {
  for (let index = 0; index < nodes.length; index++) to[index] = from[nodes[index]!]!;
  return to;
}
