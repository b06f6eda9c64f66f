import { EXPERIMENTS, type Experiment } from '../../protocol/requests/verdictRequests';
import { applyOptions, type OptionTable, Usage } from './options';

/** What `holders` and `confirm` have in common. */
interface AskArguments {
  /** A process id, a trace directory or (holders) a saved trace. */
  where: string;
  format: 'table' | 'json';
}
export interface HoldersArguments extends AskArguments {
  verb: 'holders';
  /** Blocks of this line; null: those of the leaks that were found. */
  line: { file: string; line: number } | null;
  /** The block at this address. */
  address: bigint | null;
}
export interface ConfirmArguments extends AskArguments {
  verb: 'confirm';
  experiments: Experiment[];
}

const HOLDERS_OPTIONS: OptionTable<HoldersArguments> = {
  '--line': (parsed, options) => (parsed.line = codeLine(options.value(), '--line')),
  '--address': (parsed, options) => (parsed.address = address(options.value(), '--address')),
  '--format': (parsed, options) => (parsed.format = options.choice(['table', 'json'])),
};

/** Throws `Usage`, `HelpWanted`. */
export function parseHolders(words: readonly string[]): HoldersArguments {
  const parsed: HoldersArguments = { verb: 'holders', where: '', format: 'table', line: null, address: null };
  const named = applyOptions(parsed, words, HOLDERS_OPTIONS);
  if (parsed.line !== null && parsed.address !== null) throw new Usage('Give --line or --address, not both.');
  return { ...parsed, where: onlyOne(named, 'gpu-memtrace holders PID') };
}

const CONFIRM_OPTIONS: OptionTable<ConfirmArguments> = {
  '--do': (parsed, options) => (parsed.experiments = experiments(options.value())),
  '--format': (parsed, options) => (parsed.format = options.choice(['table', 'json'])),
};

/** Throws `Usage`, `HelpWanted`. */
export function parseConfirm(words: readonly string[]): ConfirmArguments {
  const parsed: ConfirmArguments = { verb: 'confirm', where: '', format: 'table', experiments: [] };
  const named = applyOptions(parsed, words, CONFIRM_OPTIONS);
  if (parsed.experiments.length === 0) {
    throw new Usage(`Say what to try in the program: --do ${EXPERIMENTS.join(',')} (one or more).`);
  }
  return { ...parsed, where: onlyOne(named, 'gpu-memtrace confirm PID --do collect') };
}

function onlyOne(named: readonly string[], example: string): string {
  const [where, ...more] = named;
  if (where === undefined || more.length > 0) throw new Usage(`Name one running process or its trace: ${example}`);
  return where;
}

/** `train.py:41`. Throws `Usage`. */
export function codeLine(text: string, name: string): { file: string; line: number } {
  const match = /^(.+):([1-9]\d{0,8})$/.exec(text);
  if (match === null) throw new Usage(`${name} ${text} is not FILE:LINE, such as train.py:41.`);
  return { file: match[1] ?? '', line: Number(match[2]) };
}

/** `0x7f0000000400`. Throws `Usage`. */
export function address(text: string, name: string): bigint {
  if (!/^0x[0-9a-f]{1,16}$/i.test(text)) throw new Usage(`${name} ${text} is not an address such as 0x7f0000000400.`);
  return BigInt(text);
}

function experiments(text: string): Experiment[] {
  return text.split(',').map(word => {
    const found = EXPERIMENTS.find(candidate => candidate === (word === 'gc' ? 'collect' : word));
    if (found === undefined) throw new Usage(`--do ${word}: choose from ${EXPERIMENTS.join(', ')}.`);
    return found;
  });
}
