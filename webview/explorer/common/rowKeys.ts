// Rows by keyboard: where a key leads, and bringing that into view.

/** Scrolls as little as brings a row into view whose upper edge and height are known, pixels. */
export function revealRow(scroller: HTMLElement, top: number, height: number): void {
  const { scrollTop, clientHeight } = scroller;
  if (top < scrollTop) scroller.scrollTop = top;
  else if (top + height > scrollTop + clientHeight) scroller.scrollTop = top + height - clientHeight;
}

/** The row that a key leads to; undefined: it is no such key. @param from -1: none @param page rows that PageUp and PageDown pass */
export function rowMove(key: string, from: number, rows: number, page: number): number | undefined {
  const moves: Record<string, number> = {
    ArrowDown: from + 1,
    ArrowUp: from - 1,
    PageDown: from + page,
    PageUp: from - page,
    Home: 0,
    End: rows - 1,
  };
  const to = moves[key];
  return to === undefined ? undefined : Math.min(Math.max(to, 0), rows - 1);
}

/** Whether the keyboard stays in the rows while a line opens. */
export interface RowFocus {
  preserveFocus: boolean;
}

/** One click leaves the keyboard in the rows, as in lists of VS Code; the second of a double click moves it to the line. */
export const focusAfter = ({ detail }: MouseEvent): RowFocus => ({ preserveFocus: detail < 2 });
