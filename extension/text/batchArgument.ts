const NAME = /^(?:--?)?(?:b|bs|batch|batch[-_]?size)$/i;

/** The batch in a program's arguments (`--batch 64`, `-b 64`, `--batch-size=64`, `batch_size=64`); null: none or several are there, or it is no whole number. */
export function batchArgument(words: readonly string[]): number | null {
  const found = words.flatMap((word, i) => {
    const [name = '', value] = word.split('=', 2);
    if (!NAME.test(name)) return [];
    return value === undefined && !name.startsWith('-') ? [] : [value ?? words[i + 1] ?? ''];
  });
  const [only = ''] = found;
  return found.length === 1 && /^[1-9]\d{0,6}$/.test(only) ? Number(only) : null;
}
