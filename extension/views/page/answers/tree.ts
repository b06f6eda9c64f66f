import { CallTree } from '../../../analysis/report/callTree';
import { moduleTree } from '../../../analysis/report/moduleTree';
import { stackTree } from '../../../analysis/report/stackTree';
import type { TraceSession } from '../../../engine/session';
import type { TreeRequests } from '../../../protocol/requests/treeRequests';
import type { PageModel } from '../model';
import type { Answers } from './answers';
import { bornIn, openSession, sourceOf } from './source';

const trees = new WeakMap<TraceSession, { calls: CallTree; modules: CallTree }>();

export function treeAnswers(model: PageModel): Answers<TreeRequests> {
  return {
    stackTree: async ({ moment, ...query }) => {
      const session = openSession(model);
      let tree = trees.get(session);
      if (tree === undefined) trees.set(session, (tree = { calls: new CallTree(), modules: new CallTree() }));
      const at = await sourceOf(model, moment);
      const of = { ...query, ...bornIn(at) };
      return query.weight === 'modules'
        ? moduleTree(tree.modules, at.source, of)
        : stackTree(tree.calls, at.source, of);
    },
  };
}
