// What the colours of a picture mean, in rows.

/** A swatch with its words. */
export interface PictureKey {
  words: string;
  /** null: words alone. */
  fill: string | CanvasPattern | null;
  line: boolean;
}
interface PlacedKey {
  key: PictureKey;
  x: number;
  y: number;
}

export const KEY_ROW_PX = 18;
export const SWATCH_PX = 16;
const KEY_GAP_PX = 14;

/** Keys from the left, in as many rows as they need. @param room pixels @param measure of a text, pixels */
export function placeKeys(
  keys: readonly PictureKey[],
  room: number,
  measure: (text: string) => number,
): { placed: PlacedKey[]; rows: number } {
  const placed: PlacedKey[] = [];
  let [x, row] = [0, 0];
  for (const key of keys) {
    const width = measure(key.words) + (key.fill === null ? 0 : SWATCH_PX);
    if (x > 0 && x + width > room) [x, row] = [0, row + 1];
    placed.push({ key, x, y: row * KEY_ROW_PX });
    x += width + KEY_GAP_PX;
  }
  return { placed, rows: keys.length === 0 ? 0 : row + 1 };
}
