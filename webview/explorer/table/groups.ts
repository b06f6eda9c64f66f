// What the groups of the table are called, alone and in whole sentences.
import { t } from '@vscode/l10n';
import { formatCount } from '../../../extension/text/format';
import type { GroupBy } from '../../../extension/protocol/trace';
import type { TableChoice } from '../state/tableState';

export const GROUP_NAMES: Record<GroupBy, string> = {
  line: t('Line'),
  site: t('Stack'),
  function: t('Function'),
  file: t('File'),
  thread: t('Thread'),
  process: t('Process'),
  device: t('Device'),
  'module-path': t('Module'),
  category: t('Purpose'),
  pool: t('Pool'),
};

export const GROUP_CHOICES: Record<GroupBy, string> = {
  line: t('By line'),
  site: t('By stack'),
  function: t('By function'),
  file: t('By file'),
  thread: t('By thread'),
  process: t('By process'),
  device: t('By device'),
  'module-path': t('By module'),
  category: t('By purpose'),
  pool: t('By pool'),
};

/** Instead of groups, a tree: of stacks, or of modules with what is in them. */
export type Tree = (typeof TREES)[number];
export const TREES = ['stacks', 'modules'] as const;
export const TREE_TITLES: Record<Tree, string> = { stacks: t('Call tree'), modules: t('Module tree') };
export const TREE_NAMES: Record<Tree, string> = { stacks: t('Callers first'), modules: GROUP_NAMES['module-path'] };
export const treeOf = ({ weight }: TableChoice): Tree => (weight === 'modules' ? 'modules' : 'stacks');

/** Heading of the list. */
export const LIST_TITLES: Record<GroupBy, string> = {
  line: t('Live by line'),
  site: t('Live by stack'),
  function: t('Live by function'),
  file: t('Live by file'),
  thread: t('Live by thread'),
  process: t('Live by process'),
  device: t('Live by device'),
  'module-path': t('Live by module'),
  category: t('Live by purpose'),
  pool: t('Live by pool'),
};

/** One, and many with their number as `{0}`. */
const COUNTS: Record<GroupBy, (count: string, one: boolean) => string> = {
  line: (count, one) => (one ? t('1 line') : t('{0} lines', count)),
  site: (count, one) => (one ? t('1 stack') : t('{0} stacks', count)),
  function: (count, one) => (one ? t('1 function') : t('{0} functions', count)),
  file: (count, one) => (one ? t('1 file') : t('{0} files', count)),
  thread: (count, one) => (one ? t('1 thread') : t('{0} threads', count)),
  process: (count, one) => (one ? t('1 process') : t('{0} processes', count)),
  device: (count, one) => (one ? t('1 device') : t('{0} devices', count)),
  'module-path': (count, one) => (one ? t('1 module') : t('{0} modules', count)),
  category: (count, one) => (one ? t('1 purpose') : t('{0} purposes', count)),
  pool: (count, one) => (one ? t('1 pool') : t('{0} pools', count)),
};

/** Heading of the list of a moment, as `Live at 3.20 s, by line`. */
export const MOMENT_TITLES: Record<GroupBy, (moment: string) => string> = {
  line: moment => t('{0}, by line', moment),
  site: moment => t('{0}, by stack', moment),
  function: moment => t('{0}, by function', moment),
  file: moment => t('{0}, by file', moment),
  thread: moment => t('{0}, by thread', moment),
  process: moment => t('{0}, by process', moment),
  device: moment => t('{0}, by device', moment),
  'module-path': moment => t('{0}, by module', moment),
  category: moment => t('{0}, by purpose', moment),
  pool: moment => t('{0}, by pool', moment),
};

/** `12 lines` */
export function groupsText(groupBy: GroupBy, count: number): string {
  return COUNTS[groupBy](formatCount(count), count === 1);
}
