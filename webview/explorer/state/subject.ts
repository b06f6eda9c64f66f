// What the details are about: the live blocks of a row, or one block of a map.
import { t } from '@vscode/l10n';
import { formatBytes } from '../../../extension/text/format';
import type { AllocationQuery, GroupBy, Layer } from '../../../extension/protocol/trace';
import { blocksText } from '../common/counts';
import type { Row } from '../common/rows';
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
  /** The verdict on it: it leaks. */
  growing?: boolean;
}

/** A row of the table: a group that is no line has all its blocks listed, else those of its biggest stack. */
export function subjectOf(row: Row, { groupBy, device }: Pick<ViewState, 'groupBy' | 'device'>, layer: Layer): Subject {
  const blocks = blocksText(row.liveCount);
  const place = row.indices.thread < 0 ? t('several threads') : row.thread;
  const sums = [blocks, formatBytes(row.liveBytes), t('peak {0}', formatBytes(row.peakBytes)), place];
  return {
    key: `${layer}/${row.tree ? 'tree' : groupBy}/${row.key}`,
    title: row.primary,
    tooltip: row.title,
    summary: (row.tree ? [t('{0} below', blocks)] : sums).join(' · '),
    site: row.id,
    blocks: { layer, ...(device === ALL ? {} : { device }), ...(row.tree ? { site: row.id } : groupOf(row, groupBy)) },
    liveCount: row.liveCount,
    growing: (row.verdict?.bytesPerStep ?? 0) > 0,
  };
}

function groupOf(row: Row, groupBy: GroupBy): Subject['blocks'] {
  const { process, thread, device } = row.indices;
  if (groupBy === 'thread' && process >= 0 && thread >= 0) return { process, thread };
  if (groupBy === 'process' && process >= 0) return { process };
  if (groupBy === 'device' && device >= 0) return { device };
  return { site: row.id };
}
