/** Some values, at least one. */
export type Group<V> = [V, ...V[]];

/** Values by a key, in the order in which keys and values came. */
export function groupBy<K, V>(values: Iterable<V>, keyOf: (value: V) => K): Map<K, Group<V>> {
  const groups = new Map<K, Group<V>>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** The values in lists of so many, each made when it is read. */
export function* batches<T>(values: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const value of values) {
    if (batch.push(value) < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** What a map has for a key; made and kept where it has nothing. */
export function remembered<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
