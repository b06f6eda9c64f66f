/**
 * Cells of rows below each other, each column as wide as its widest and `gap` spaces from the next; `right`: whether its cells stand at its
 * right end, as numbers do. Columns without any text are left out.
 */
export function columns(rows: readonly (readonly string[])[], right: readonly boolean[], gap = 1): string[] {
  const widths = right.map((_, column) => Math.max(0, ...rows.map(row => lengthOf(row[column] ?? ''))));
  return rows.map(row =>
    right
      .map((isRight, column) => {
        const cell = row[column] ?? '';
        const rest = ' '.repeat((widths[column] ?? 0) - lengthOf(cell));
        return isRight ? rest + cell : cell + rest;
      })
      .filter((_, column) => widths[column] !== 0)
      .join(' '.repeat(gap)),
  );
}

/** Characters as people count them; those of double width count once. */
export function lengthOf(text: string): number {
  return [...text].length;
}
