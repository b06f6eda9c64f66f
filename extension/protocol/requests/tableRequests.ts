// What the table asks beside its rows.
import { index, object, type Checks } from './checks';
import { MOMENT, type OfMoment } from './moment';
import type { FreeLine } from '../steps';

export interface TableRequests {
  /** The stacks that free a site's blocks, most frequent first. */
  freeLines(query: { site: number } & OfMoment): FreeLine[];
}

export const tableChecks: Checks<TableRequests> = { freeLines: object({ site: index, ...MOMENT }) };
