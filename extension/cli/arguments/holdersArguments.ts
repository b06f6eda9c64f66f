import { applyOptions, type OptionTable, Usage } from './optionReader';

export interface HoldersArguments {
  verb: 'holders';
  /** A process id, a trace directory or a saved trace. */
  where: string;
  format: 'table' | 'json';
  /** Blocks of this line; null: those of the leaks that were found. */
  line: { file: string; line: number } | null;
  /** The block at this address. */
  address: bigint | null;
}

const HOLDERS_OPTIONS: OptionTable<HoldersArguments> = {
  '--line': (parsed, options) => (parsed.line = codeLine(options.value(), '--line')),
  '--address': (parsed, options) => (parsed.address = address(options.value(), '--address')),
  '--format': (parsed, options) => (parsed.format = options.choice(['table', 'json'])),
};

/** Throws `Usage`, `HelpRequested`. */
export function parseHolders(words: readonly string[]): HoldersArguments {
  const parsed: HoldersArguments = { verb: 'holders', where: '', format: 'table', line: null, address: null };
  const named = applyOptions(parsed, words, HOLDERS_OPTIONS);
  if (parsed.line !== null && parsed.address !== null) throw new Usage('Give --line or --address, not both.');
  const [where, ...more] = named;
  if (where === undefined || more.length > 0)
    throw new Usage('Give one running process or its trace: gpu-memtrace holders PID');
  return { ...parsed, where };
}

/** `train.py:41`. Throws `Usage`. */
export function codeLine(text: string, name: string): { file: string; line: number } {
  const match = /^(.+):([1-9]\d{0,8})$/.exec(text);
  if (match === null) throw new Usage(`${name} "${text}" is not FILE:LINE, such as train.py:41.`);
  return { file: match[1] ?? '', line: Number(match[2]) };
}

/** `0x7f0000000400`. Throws `Usage`. */
export function address(text: string, name: string): bigint {
  if (!/^0x[0-9a-f]{1,16}$/i.test(text))
    throw new Usage(`${name} "${text}" is not an address, such as 0x7f0000000400.`);
  return BigInt(text);
}
