// The menus of the table: of a row, and of the columns.
import { t } from '@vscode/l10n';
import type { MenuEntry } from '../../menu';
import type { DetailsSection } from '../state/part';
import { CHOICES, type Choice } from '../common/columns';
import type { Row } from '../common/rows';
import { baseName } from '../../../extension/text/format';

export interface RowActions {
  open(row: Row): void;
  /** Its stack, or its frees, in the details. */
  details(row: Row, part: DetailsSection): void;
  copy(): void;
  filter(text: string): void;
}

/** The menu of a row; `selected`: so many rows are. */
export function rowMenu(row: Row, selected: number, actions: RowActions): MenuEntry[] {
  const words = filterFor(row);
  return [
    { id: 'open', label: t('Open line'), keys: 'Enter', disabled: row.line === 0, run: () => actions.open(row) },
    { id: 'stack', label: t('Show stack'), run: () => actions.details(row, 'stack') },
    { id: 'frees', label: t('Show where these blocks are freed'), run: () => actions.details(row, 'frees') },
    null,
    {
      id: 'copy',
      label: selected > 1 ? t('Copy {0} rows', selected) : t('Copy row'),
      keys: 'Ctrl+C',
      run: () => actions.copy(),
    },
    { id: 'filter', label: t('Filter to this'), disabled: words === '', run: () => actions.filter(words) },
  ];
}

/** Words of the filter that match a row: they hold no spaces, so that each is one word. */
export function filterFor({ file, line, function: name, primary }: Row): string {
  const text = file === '' ? primary : line > 0 ? `${baseName(file)} ${name}` : name || baseName(file);
  return text
    .split(/\s+/)
    .filter(word => word !== '' && !/^(age)?[<>]/.test(word))
    .join(' ');
}

/** One item a column; `absence`: why one that is chosen is not there. */
export function columnMenu(
  chosen: () => readonly Choice[],
  absence: (id: Choice) => string,
  toggle: (id: Choice) => void,
): MenuEntry[] {
  return CHOICES.map(([id, name]) => {
    const relabel = (): string => [name, chosen().includes(id) ? absence(id) : ''].join(' ').trim();
    return { id, label: relabel(), relabel, checked: chosen().includes(id), run: () => toggle(id) };
  });
}
