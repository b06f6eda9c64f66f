// What the details are about: the live blocks of a row, or one block of a map.
import { formatBytes, formatPlural } from '../../extension/protocol/format';
import type { AllocationQuery, GroupBy, Layer } from '../../extension/protocol/trace';
import type { Row } from './rows';
import { ALL, type ViewState } from './state';

export interface Subject {
  /** The same subject has the same key while its figures change. */
  key: string;
  title: string;
  tooltip: string;
  summary: string;
  /** The site whose stack is shown. */
  site: number;
  /** Which live blocks are listed. */
  blocks: Pick<AllocationQuery, 'layer' | 'site' | 'process' | 'device' | 'thread'>;
  /** Blocks of the subject, more than are listed where it has several stacks; null: those that are listed. */
  liveCount: number | null;
}

/** A row of the table: a group that is no line has all its blocks listed, else those of its biggest stack. */
export function subjectOf(row: Row, { groupBy, device }: Pick<ViewState, 'groupBy' | 'device'>, layer: Layer): Subject {
  const blocks = formatPlural(row.liveCount, 'block');
  const place = row.thread === 'several' ? 'several threads' : row.thread;
  return {
    key: `${layer}/${groupBy}/${row.key}`,
    title: row.primary,
    tooltip: row.title,
    summary: `${blocks} · ${formatBytes(row.liveBytes)} · peak ${formatBytes(row.peakBytes)} · ${place}`,
    site: row.id,
    blocks: { layer, ...(device === ALL ? {} : { device }), ...groupOf(row, groupBy) },
    liveCount: row.liveCount,
  };
}

function groupOf(row: Row, groupBy: GroupBy): Subject['blocks'] {
  const { process, thread, device } = row.indices;
  if (groupBy === 'thread' && process >= 0 && thread >= 0) return { process, thread };
  if (groupBy === 'process' && process >= 0) return { process };
  if (groupBy === 'device' && device >= 0) return { device };
  return { site: row.id };
}
