import { stackTree } from '../../analysis/stackTree';
import type { TreeRequests } from '../../protocol/treeRequests';
import type { PageModel } from '../page';
import type { Answers } from './answers';
import { openTrace } from './trace';

export function treeAnswers(model: PageModel): Answers<TreeRequests> {
  return { stackTree: query => stackTree(openTrace(model), query) };
}
