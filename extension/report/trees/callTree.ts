import { libraryName } from '../../text/libraryName';
import type { Frame, Site, SiteQuery, SiteWindow } from '../../protocol/trace';
import { remembered } from '../../base/maps';

export type TreeWindow = Pick<
  SiteWindow,
  'revision' | 'id' | 'liveBytes' | 'liveCount' | 'peakBytes' | 'allocatedBytes'
>;
/** What a tree is made of. */
export interface TreeSource {
  sites(query: SiteQuery): TreeWindow;
  site(id: number): Pick<Site, 'frames' | 'library'> | null;
}

const NO_PYTHON: Frame = { file: '', line: 0, function: '' };
/** Keys are parent × KEYS + frame: exact while both stay below 2^26. */
const KEYS = 2 ** 26;

/**
 * Stacks as one tree: equal beginnings are one node. It only grows, so that a node's number names it
 * for good, at every moment of the trace.
 */
export class CallTree {
  readonly frames: Frame[] = [];
  private readonly frameNumbers = new Map<string, number>();
  private readonly parents: number[] = [];
  private readonly frameOf: number[] = [];
  private readonly known = new Map<number, number>();
  /** For each source, as sites are numbered there. */
  private readonly leaves = new WeakMap<TreeSource, Map<number, number>>();

  /** Nodes so far. A node's parent has a smaller number. */
  get size(): number {
    return this.parents.length;
  }

  /** -1: outermost. */
  parent(node: number): number {
    return this.parents[node] ?? -1;
  }

  /** Index in `frames`. */
  frame(node: number): number {
    return this.frameOf[node] ?? 0;
  }

  /** The nodes of the sites' innermost frames. A stack is read once: it never changes, but for one that is not known yet. */
  leavesOf(source: TreeSource, sites: Uint32Array): Uint32Array {
    const known = remembered(this.leaves, source, () => new Map<number, number>());
    return sites.map(site => known.get(site) ?? this.add(source, site, known));
  }

  private add(source: TreeSource, site: number, known: Map<number, number>): number {
    const found = source.site(site);
    const frames = found?.frames ?? [];
    if (frames.length === 0) return this.child(-1, { ...NO_PYTHON, function: libraryName(found?.library ?? '') });
    const leaf = frames.reduceRight((node, frame) => this.child(node, frame), -1);
    known.set(site, leaf);
    return leaf;
  }

  private child(parent: number, frame: Frame): number {
    const number = this.frameNumber(frame);
    return remembered(this.known, (parent + 1) * KEYS + number, () => {
      this.frameOf.push(number);
      return this.parents.push(parent) - 1;
    });
  }

  private frameNumber(frame: Frame): number {
    const name = `${frame.line}\n${frame.function}\n${frame.file}`;
    return remembered(this.frameNumbers, name, () => this.frames.push(frame) - 1);
  }
}
