import type { TableRequests } from '../../../protocol/requests/tableRequests';
import type { PageModel } from '../model';
import type { Answers } from './answers';
import { sourceOf } from './source';

export function tableAnswers(model: PageModel): Answers<TableRequests> {
  return { freeLines: async ({ site, moment }) => (await sourceOf(model, moment)).source.freeLines(site) };
}
