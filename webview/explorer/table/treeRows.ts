// The rows of the tree of stacks: what is open of it, depth first, the heaviest callee first.
import { t } from '@vscode/l10n';
import { NO_SITE_ROW, type SiteSort } from '../../../extension/protocol/trace';
import type { StackTree } from '../../../extension/protocol/requests/treeRequests';
import type { Row } from '../common/rows';
import type { RowSource } from './rowSource';
import { moduleText } from '../../../extension/text/moduleText';
import { baseName, fileLine } from '../../../extension/text/format';
import { groupBy } from '../../../extension/base/maps';

export interface TreeOrder {
  sort: SiteSort;
  descending: boolean;
}
const TEXT_ORDER = new Intl.Collator('en', { numeric: true });

/** By what a tree can be sorted; all else means its bytes. */
export function treeSort(sort: SiteSort): SiteSort {
  return sort === 'label' || sort === 'liveCount' ? sort : 'liveBytes';
}

export class TreeRows implements RowSource {
  fullBytes = 0;
  private tree: StackTree | null = null;
  private order: TreeOrder = { sort: 'liveBytes', descending: true };
  /** Ids of nodes. */
  private readonly expanded = new Set<number>();
  /** Nodes (places in the tree's columns) from top to bottom, and where each key stands. */
  private shown: number[] = [];
  private readonly places = new Map<string, number>();
  private levels: number[] = [];

  get total(): number {
    return this.shown.length;
  }

  /** Ids of the nodes whose callees are shown. */
  get open(): number[] {
    return [...this.expanded];
  }

  set(tree: StackTree, order: TreeOrder): void {
    this.tree = tree;
    this.order = order;
    this.fullBytes = tree.totalBytes;
    this.arrange();
  }

  setOrder(order: TreeOrder): void {
    if (order.sort === this.order.sort && order.descending === this.order.descending) return;
    this.order = order;
    this.arrange();
  }

  forget(): void {
    this.tree = null;
    this.expanded.clear();
    this.arrange();
  }

  /** Its callees are shown from the next answer on, or no more. */
  expand(key: string, open: boolean): void {
    const id = Number(key);
    if (open) this.expanded.add(id);
    else this.expanded.delete(id);
    this.arrange();
  }

  indexOf(key: string): number {
    return this.places.get(key) ?? -1;
  }

  /** Where the caller of a row stands; -1: it is outermost. */
  parentOf(index: number): number {
    const parent = this.tree?.parent[this.shown[index] ?? -1] ?? -1;
    return parent < 0 ? -1 : this.indexOf(String(this.tree!.id[parent]));
  }

  row(index: number): Row | null {
    const node = this.shown[index];
    return this.tree && node !== undefined ? this.rowOf(this.tree, node, this.levels[index] ?? 1) : null;
  }

  rows(from: number, to: number): Promise<Row[]> {
    const rows: Row[] = [];
    for (let index = from; index < Math.min(to, this.total); index++) rows.push(this.row(index)!);
    return Promise.resolve(rows);
  }

  /** Of these rows, those that lie in none of the others: what a sum counts once. */
  outermost(keys: ReadonlySet<string>): Row[] {
    const rows: Row[] = [];
    for (let index = 0; index < this.total; index++) {
      if (keys.has(this.keyAt(index)) && !this.hasCaller(index, keys)) rows.push(this.row(index)!);
    }
    return rows;
  }

  private hasCaller(index: number, keys: ReadonlySet<string>): boolean {
    for (let at = this.parentOf(index); at >= 0; at = this.parentOf(at)) if (keys.has(this.keyAt(at))) return true;
    return false;
  }

  private keyAt(index: number): string {
    return String(this.tree?.id[this.shown[index] ?? -1] ?? '');
  }

  private arrange(): void {
    this.shown = [];
    this.levels = [];
    this.places.clear();
    const { tree } = this;
    if (!tree) return;
    const callees = groupBy(tree.parent.keys(), node => tree.parent[node]!); // -1: the outermost
    const compare = this.comparison(tree);
    const add = (nodes: number[], level: number): void => {
      for (const node of nodes.sort(compare)) {
        this.places.set(String(tree.id[node]), this.shown.length);
        this.shown.push(node);
        this.levels.push(level);
        if (this.expanded.has(tree.id[node]!)) add(callees.get(node) ?? [], level + 1);
      }
    };
    add(callees.get(-1) ?? [], 1);
  }

  private comparison(tree: StackTree): (a: number, b: number) => number {
    const sort = treeSort(this.order.sort);
    const sign = this.order.descending ? -1 : 1;
    if (sort === 'label') return (a, b) => sign * TEXT_ORDER.compare(placeOf(tree, a), placeOf(tree, b)) || a - b;
    const values = sort === 'liveCount' ? tree.liveCount : tree.sumBytes;
    return (a, b) => sign * (values[a]! - values[b]!) || a - b;
  }

  private rowOf(tree: StackTree, node: number, level: number): Row {
    const { file, line, function: name } = tree.frames[tree.frame[node]!]!;
    const id = tree.id[node]!;
    const bytes = tree.sumBytes[node]!;
    const path = file.endsWith(name) ? file : name; // of a module
    const title = line > 0 ? `${file}:${line}` : path || t('no Python line');
    return {
      ...EMPTY_ROW,
      key: String(id),
      id: tree.site[node]!,
      primary: moduleText(name, t) || t('no Python line'), // of Python, no name is a number
      secondary: line > 0 ? fileLine(file, line) : file === name ? '' : baseName(file),
      title,
      name: title,
      file,
      line,
      function: name,
      liveBytes: bytes,
      liveCount: tree.liveCount[node]!,
      peakBytes: bytes,
      tree: {
        level,
        expanded: tree.children[node]! > 0 ? this.expanded.has(id) : null,
        selfBytes: tree.selfBytes[node]!,
      },
    };
  }
}

const EMPTY_ROW = {
  ...NO_SITE_ROW,
  trend: 'steady',
  thread: '',
  device: '',
  indices: { process: -1, thread: -1, device: -1 },
  spark: null,
  hueName: '',
  verdict: null,
  bytesPerStep: 0,
} as const;

function placeOf(tree: StackTree, node: number): string {
  const { file, line, function: name } = tree.frames[tree.frame[node]!]!;
  return `${name} ${file}:${line}`;
}
