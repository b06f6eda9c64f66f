// What several selected rows hold together.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../extension/text/format';
import { iconButton } from '../../components';
import { el, setHidden, setText } from '../../dom';
import { blocksText } from '../common/counts';

export interface SelectionSum {
  rows: number;
  liveBytes: number;
  liveCount: number;
}

export class SelectionBar {
  readonly element: HTMLElement;
  private readonly text = el('span', { class: 'number', role: 'status', 'data-value': 'selection' });

  constructor(actions: { copy(): void; clear(): void }) {
    const copy = iconButton('copy-rows', 'copy', t('Copy the rows (Ctrl+C)'), () => actions.copy());
    const clear = iconButton('clear-selection', 'close', t('Clear the selection (Escape)'), () => actions.clear());
    this.element = el('div', { class: 'selection-bar' }, this.text, copy.element, clear.element);
    this.show(null);
  }

  /** null: at most one row is selected. */
  show(sum: SelectionSum | null): void {
    setHidden(this.element, sum === null);
    if (!sum) return setText(this.text, '');
    const blocks = blocksText(sum.liveCount);
    setText(this.text, t('{0} rows · {1} · {2}', formatCount(sum.rows), formatBytes(sum.liveBytes), blocks));
  }
}

export function sumOf(rows: readonly { liveBytes: number; liveCount: number }[], selected: number): SelectionSum {
  const sum = (of: 'liveBytes' | 'liveCount'): number => rows.reduce((all, row) => all + row[of], 0);
  return { rows: selected, liveBytes: sum('liveBytes'), liveCount: sum('liveCount') };
}
