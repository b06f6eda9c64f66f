/** The first of `count` places for which `holds` is true; it is for all that follow. `count`: for none. */
export function firstWhere(count: number, holds: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
