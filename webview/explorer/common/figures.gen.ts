// Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
import { t } from '@vscode/l10n';
import type { SiteSort } from '../../../extension/protocol/answers.gen';
import { formatBytes, formatCount } from '../../../extension/text/format';

export type FigureId = 'live' | 'count' | 'mean' | 'peak' | 'allocations' | 'frees' | 'allocated';
/** A column that shows one number of a row. */
export interface Figure {
  id: FigureId;
  /** Of a row. */
  field: 'liveBytes' | 'liveCount' | 'meanBytes' | 'peakBytes' | 'allocations' | 'frees' | 'allocatedBytes';
  title: string;
  hint: string;
  choice: string;
  sort: SiteSort | null;
  widths: readonly [wide: number, narrow: number];
  format(value: number): string;
}
export const FIGURES: readonly Figure[] = [
  { id: 'live', field: 'liveBytes', title: t('Live'), hint: t('Live bytes'), choice: t('Live bytes'), sort: 'liveBytes', widths: [92, 74], format: formatBytes },
  { id: 'count', field: 'liveCount', title: t('Blocks'), hint: t('Live blocks'), choice: t('Live blocks'), sort: 'liveCount', widths: [72, 46], format: formatCount },
  { id: 'mean', field: 'meanBytes', title: t('Mean block'), hint: t('Mean size of the live blocks'), choice: t('Mean block'), sort: 'meanBytes', widths: [84, 76], format: formatBytes },
  { id: 'peak', field: 'peakBytes', title: t('Peak'), hint: t('Highest live bytes at any one time; of a function, file or thread with several lines, at least this'), choice: t('Peak'), sort: 'peakBytes', widths: [84, 76], format: formatBytes },
  { id: 'allocations', field: 'allocations', title: t('Allocations'), hint: t('Allocations so far'), choice: t('Allocations'), sort: 'allocations', widths: [84, 76], format: formatCount },
  { id: 'frees', field: 'frees', title: t('Frees'), hint: t('Frees so far'), choice: t('Frees'), sort: 'frees', widths: [76, 70], format: formatCount },
  { id: 'allocated', field: 'allocatedBytes', title: t('Total allocated'), hint: t('All bytes ever allocated'), choice: t('Total allocated'), sort: 'allocatedBytes', widths: [112, 104], format: formatBytes },
];
