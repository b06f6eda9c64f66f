// The header of the table: titles that sort.
import type { SiteSort } from '../../../extension/protocol/trace';
import { button, el, setAttribute, setHidden, setText } from '../../dom';
import { COLUMNS, type ColumnId } from '../common/columns';
import type { Layout } from './tableLayout';

interface Header {
  element: HTMLElement;
  title: HTMLElement;
  sort: SiteSort | null;
}

export class TableHead {
  readonly element = el('div', { role: 'rowgroup', class: 'table-head' });
  private readonly row = el('div', { role: 'row', class: 'row head', 'aria-rowindex': 1 });
  private readonly headers = new Map<ColumnId, Header>();

  constructor(private readonly sort: (by: SiteSort) => void) {
    for (const column of COLUMNS) {
      const header = this.header(column);
      this.headers.set(column.id, header);
      this.row.append(header.element);
    }
    this.element.append(this.row);
  }

  setOrder(sort: SiteSort, descending: boolean): void {
    for (const header of this.headers.values()) {
      const order = descending ? 'descending' : 'ascending';
      setAttribute(header.element, 'aria-sort', header.sort === sort ? order : 'none');
    }
  }

  setTitle(id: ColumnId, title: string, hint: string): void {
    const header = this.headers.get(id);
    if (!header) return;
    setText(header.title, title);
    setAttribute(header.element, 'title', hint);
  }

  setLayout({ columns }: Layout): void {
    const shown = columns.map(({ id }) => id);
    for (const [id, { element }] of this.headers) {
      setHidden(element, !shown.includes(id));
      setAttribute(element, 'aria-colindex', String(shown.indexOf(id) + 1));
    }
  }

  /** Follows the rows sideways. */
  scrollTo(leftPx: number): void {
    this.element.scrollLeft = leftPx;
  }

  private header({ id, title, hint, sort }: (typeof COLUMNS)[number]): Header {
    const element = el('div', { role: 'columnheader', 'data-column': id, title: hint });
    element.style.gridArea = id;
    const text = el('span', {}, title);
    if (sort === null) element.append(text);
    else {
      const arrow = el('span', { class: 'sort-arrow', 'aria-hidden': 'true' });
      element.append(button('sort', null, [text, arrow], () => this.sort(sort), { 'data-sort': sort }));
    }
    return { element, title: text, sort };
  }
}
