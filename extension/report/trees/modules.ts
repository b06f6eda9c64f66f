import { formatBytes } from '../../text/format';
import type { Category, SiteQuery, SiteRow, TraceSource } from '../../protocol/trace';
import { CATEGORIES, siteRows } from '../../protocol/trace';
import { WORDS } from '../../analysis/words';

/** Live bytes by what they are for. */
export type CategoryBytes = Partial<Record<Category, number>>;
export type ModuleRow = SiteRow & { categories: CategoryBytes };

/** Label of what is of no module, as native/model/query has it. */
export const NO_MODULE = '(no module)';
export const MOST_MODULES = 10_000;

/** What lives by the path of its module, biggest first, each with what it is for. */
export function readModules(
  source: TraceSource,
  where: Pick<SiteQuery, 'layer' | 'process' | 'device' | 'filter'>,
): ModuleRow[] {
  const order = { sort: 'liveBytes', descending: true, from: 0, to: MOST_MODULES } as const;
  const query = { ...where, ...order, groupBy: 'module-path' } as const;
  const rows = siteRows(source.sites(query)).map(row => ({ ...row, categories: {} as CategoryBytes }));
  const byPath = new Map(rows.map(row => [row.label, row]));
  for (const category of where.layer === 'tensor' ? CATEGORIES : []) {
    for (const part of siteRows(source.sites({ ...query, category }))) {
      const row = byPath.get(part.label);
      if (row !== undefined) row.categories[category] = part.liveBytes;
    }
  }
  return rows;
}

/** `3 MB activations, 1 MB parameters`, biggest first. */
export function categoriesText(categories: CategoryBytes): string {
  const parts = CATEGORIES.flatMap(category => ({ category, bytes: categories[category] ?? 0 }));
  return parts
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ category, bytes }) => `${formatBytes(bytes)} ${WORDS.categories[category]}`)
    .join(', ');
}
