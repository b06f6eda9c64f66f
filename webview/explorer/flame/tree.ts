// The call tree as it is drawn: what the host sends as columns becomes nodes, with library frames folded on request.
import { t } from '@vscode/l10n';
import { moduleText } from '../../../extension/text/moduleText';
import type { StackTree } from '../../../extension/protocol/requests/treeRequests';
import { isLibrary, packageName } from '../common/stack';
import { remembered } from '../../../extension/base/maps';

export interface FlameNode {
  /** The same node has the same id in every answer; -1: the whole. */
  id: number;
  /** `model.py:41 forward` are its places; a folded node has a label alone. */
  label: string;
  file: string;
  line: number;
  function: string;
  /** Outside the user's own code. */
  library: boolean;
  /** Frames folded into it; 0: none. */
  folded: number;
  selfBytes: number;
  sumBytes: number;
  liveCount: number;
  /** The heaviest site at or below it. */
  site: number;
  siteBytes: number;
  depth: number;
  parent: FlameNode | null;
  /** Biggest first. */
  children: FlameNode[];
}

const WHOLE = -1;

/** The tree of an answer below one node that is the whole. `fold`: runs of library frames become one node. */
export function flameTree(tree: StackTree, fold: boolean): FlameNode {
  const whole = newNode(null, WHOLE, { file: '', line: 0, function: t('all') }, t('all'));
  whole.sumBytes = tree.totalBytes;
  whole.liveCount = tree.totalCount;
  const made: FlameNode[] = [];
  const known = new Map<FlameNode, Map<string, FlameNode>>();
  for (let i = 0; i < tree.nodes; i++) {
    const up = tree.parent[i]! < 0 ? whole : made[tree.parent[i]!]!;
    made.push(place(tree, i, up, fold, known));
  }
  sortChildren(whole);
  return whole;
}

/** The node that stands for entry `i`: a new one, or one that it is folded into. */
function place(
  tree: StackTree,
  i: number,
  up: FlameNode,
  fold: boolean,
  known: Map<FlameNode, Map<string, FlameNode>>,
): FlameNode {
  const frame = tree.frames[tree.frame[i]!]!;
  const hidden = fold && isLibrary(frame.file);
  if (hidden && up.folded > 0) {
    up.folded++;
    up.selfBytes += tree.selfBytes[i]!;
    up.label = foldedLabel(up);
    return up;
  }
  const key = hidden ? `\0${packageName(frame.file)}` : `${frame.file}\0${frame.line}\0${frame.function}`;
  const siblings = remembered(known, up, () => new Map<string, FlameNode>());
  const noLine = frame.line === 0 && frame.function === '';
  const node = remembered(siblings, key, () => {
    const made = newNode(up, tree.id[i]!, frame, noLine ? t('no Python line') : moduleText(frame.function, t));
    up.children.push(made);
    return made;
  });
  if (hidden) {
    node.folded++;
    node.label = foldedLabel(node);
  }
  addEntry(node, tree, i);
  return node;
}

function addEntry(node: FlameNode, tree: StackTree, i: number): void {
  node.selfBytes += tree.selfBytes[i]!;
  node.sumBytes += tree.sumBytes[i]!;
  node.liveCount += tree.liveCount[i]!;
  node.id = Math.min(node.id, tree.id[i]!);
  if (tree.sumBytes[i]! <= node.siteBytes) return;
  node.siteBytes = tree.sumBytes[i]!;
  node.site = tree.site[i]!;
}

function newNode(parent: FlameNode | null, id: number, frame: StackTree['frames'][number], text: string): FlameNode {
  return {
    id,
    ...frame,
    label: text,
    library: isLibrary(frame.file),
    folded: 0,
    selfBytes: 0,
    sumBytes: 0,
    liveCount: 0,
    site: 0,
    siteBytes: -1,
    depth: parent ? parent.depth + 1 : 0,
    parent,
    children: [],
  };
}

function foldedLabel({ folded, file, function: name }: FlameNode): string {
  return folded === 1 ? name : t('{0}: {1} frames', packageName(file), folded);
}

function sortChildren(node: FlameNode): void {
  node.children.sort((a, b) => b.sumBytes - a.sumBytes || a.id - b.id);
  node.children.forEach(sortChildren);
}

/** The node with this id, at or below `node`; null: it is not shown any more. */
export function findNode(node: FlameNode, id: number): FlameNode | null {
  if (node.id === id) return node;
  for (const child of node.children) {
    const found = findNode(child, id);
    if (found) return found;
  }
  return null;
}

export interface Matches {
  ids: ReadonlySet<number>;
  /** Of the whole, what the outermost matches hold: a match inside another counts once. */
  bytes: number;
}

/** Nodes whose function or file holds the text, capitals or not. An empty text matches nothing. */
export function search(whole: FlameNode, text: string): Matches {
  const ids = new Set<number>();
  const needle = text.trim().toLowerCase();
  const bytes = needle === '' ? 0 : matchBelow(whole, needle, ids, false);
  return { ids, bytes };
}

function matchBelow(node: FlameNode, needle: string, ids: Set<number>, inside: boolean): number {
  const place = `${node.file}:${node.line} ${node.label}`.toLowerCase();
  const matches = node.parent !== null && place.includes(needle);
  if (matches) ids.add(node.id);
  let bytes = matches && !inside ? node.sumBytes : 0;
  for (const child of node.children) bytes += matchBelow(child, needle, ids, inside || matches);
  return bytes;
}
