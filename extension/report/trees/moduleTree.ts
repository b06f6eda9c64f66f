import type { StackTree } from '../../protocol/requests/treeRequests';
import { CATEGORIES, siteRows, type Category, type Frame, type TraceSource } from '../../protocol/trace';
import { WORDS } from '../../analysis/words';
import type { CallTree, TreeSource } from './callTree';
import { MOST_MODULES } from './modules';
import { stackTree, type TreeQuery } from './stackTree';

type Modules = Pick<TraceSource, 'sites'>;

/** What is alive as a tree of modules, below each what it is for: each part of a path is taken for a frame. */
export function moduleTree(tree: CallTree, source: Modules, query: TreeQuery): StackTree {
  const found = stackTree(tree, modulesAsStacks(source), query);
  return { ...found, site: found.site.fill(0) }; // modules are no sites
}

function modulesAsStacks(source: Modules): TreeSource {
  const frames: Frame[][] = [];
  return {
    sites: query => {
      const rows = CATEGORIES.flatMap(category => {
        const modules = { ...query, category, groupBy: 'module-path', to: MOST_MODULES } as const;
        return siteRows(source.sites(modules)).map(row => ({ ...row, frames: framesOf(row.label, category) }));
      });
      frames.push(...rows.map(row => row.frames));
      const column = (of: 'liveBytes' | 'liveCount'): Float64Array => Float64Array.from(rows, row => row[of]);
      const [bytes, liveCount] = [column('liveBytes'), column('liveCount')];
      const { revision } = source.sites({ ...query, groupBy: 'process', to: 0 });
      return {
        revision,
        id: Uint32Array.from(rows.keys()),
        liveCount,
        liveBytes: bytes,
        peakBytes: bytes,
        allocatedBytes: bytes,
      };
    },
    site: id => ({ frames: frames[id] ?? [], library: '' }),
  };
}

/** Innermost first, as of a stack. `file`: the path up to there, which sets layers of one name apart. */
function framesOf(path: string, category: Category): Frame[] {
  const parts = /^[\w.]+$/.test(path) ? path.split('.') : [path];
  const modules = parts.map((name, at) => ({ file: parts.slice(0, at + 1).join('.'), line: 0, function: name }));
  return [{ file: path, line: 0, function: WORDS.categories[category] }, ...modules.toReversed()];
}
