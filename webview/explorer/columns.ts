// The columns of the table, in reading order.
import type { GroupBy, SiteSort } from '../../extension/protocol/trace';

export type ColumnId = 'site' | 'live' | 'count' | 'growth' | 'thread' | 'device' | 'spark';

export interface Column {
  id: ColumnId;
  title: string;
  /** What a long title would say. */
  hint: string;
  /** null: its header does not sort. */
  sort: SiteSort | null;
}

export const COLUMNS: readonly Column[] = [
  { id: 'site', title: 'Line', hint: 'Python line that allocated', sort: 'label' },
  { id: 'live', title: 'Live', hint: 'Bytes alive now', sort: 'liveBytes' },
  { id: 'count', title: 'Count', hint: 'Blocks alive now', sort: 'liveCount' },
  { id: 'growth', title: 'Growth', hint: 'Slope of the live bytes over the recent past', sort: 'growth' },
  { id: 'thread', title: 'Thread', hint: 'Thread that allocated', sort: 'thread' },
  { id: 'device', title: 'Device', hint: 'Device of the memory', sort: 'device' },
  { id: 'spark', title: 'Run', hint: 'Live bytes over the run so far', sort: null },
];

export const GROUP_NAMES: Record<GroupBy, string> = {
  line: 'Line',
  site: 'Stack',
  function: 'Function',
  module: 'Module',
  thread: 'Thread',
  process: 'Process',
  device: 'Device',
  category: 'Category',
};

/** Heading of the list, as "Alive by line". */
export function listTitle(groupBy: GroupBy): string {
  return `Alive by ${GROUP_NAMES[groupBy].toLowerCase()}`;
}
