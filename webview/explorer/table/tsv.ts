// Rows as text that a spreadsheet takes: a line a row, cells between tabs, figures without units.
import { t } from '@vscode/l10n';
import type { Column } from '../common/columns';
import type { Row } from '../common/rows';

/** With a line of titles first. `name` is the title of the first column. */
export function tsvOf(rows: readonly Row[], columns: readonly Column[], name: string): string {
  const shown = columns.filter(({ id }) => id !== 'site' && id !== 'spark');
  const head = [name, t('Function'), ...shown.map(({ title }) => title), t('Verdict')];
  const lines = rows.map(row => [
    row.name,
    row.function,
    ...shown.map(column => column.value(row)),
    row.verdict?.state ?? '',
  ]);
  const text = (cells: readonly (string | number)[]): string =>
    cells.map(cell => String(cell).replace(/[\t\r\n]+/g, ' ')).join('\t');
  return [head, ...lines].map(cells => `${text(cells)}\n`).join('');
}
