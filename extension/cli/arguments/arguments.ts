import { HOLDER_TIMES, type HolderTime } from '../../capture/checks/survey';
import { type FitArguments, parseFit } from './fitArguments';
import { parseHolders, type HoldersArguments } from './holdersArguments';
import { type KernelArguments, parseKernel } from './kernelArguments';
import { parseMark, type MarkArguments } from './markArguments';
import { applyOptions, HelpRequested, leadingOptions, nearest, Options, type OptionTable, Usage } from './optionReader';
import { parseRanks, type RankSet } from './ranks';
import { parseReport, type ReportArguments } from './reportArguments';
import { parseSql, type SqlArguments } from './sqlArguments';
import type { RecordArguments, StartConditions } from './startArguments';
import { parseRecord, size, startCondition, startStep } from './startArguments';

/** What `run` and `attach` have in common. */
export type RecordingArguments = typeof RECORDING;
const RECORDING = {
  output: null as string | null,
  format: 'table' as 'table' | 'json' | 'none',
  report: null as string | null,
  intervalMs: 2_000,
  /** null: a leak is no failure; `all`: nor is one too slow to matter left out. */
  failOnLeak: null as 'leaks' | 'all' | null,
  /** List the blocks at the end, however many there are. */
  blocks: false,
  /** Of the uprobe tracer: events without a Python stack carry the native one. */
  nativeStacks: false,
  /** Of the space that the trace takes while it is recorded; null: the usual. */
  detailBytes: null as number | null,
  budgetBytes: null as number | null,
  /** Of a job, the ranks that are recorded in full; null: all. */
  ranks: null as RankSet | null,
  /** Address of the server that gets metrics while it runs; empty: that of OpenTelemetry's variables. */
  otlp: null as string | null,
  /** The file that gets them. */
  prometheus: null as string | null,
};
export type RunArguments = typeof RUN;
const RUN = {
  verb: 'run' as const,
  ...RECORDING,
  backend: 'inject' as 'inject' | 'uprobe',
  simulateGpu: false,
  /** File for the program's stdout and stderr; null: they are ours. */
  log: null as string | null,
  /** When the program is stopped to find what holds its memory; null: not given. */
  holders: null as HolderTime | null,
  /** null: recording begins with the program. */
  start: null as StartConditions | null,
  /** After so many training steps the program gets Ctrl+C; null: never. */
  maxSteps: null as number | null,
  /** Nothing is done for each autograd node. */
  lean: false,
  command: [] as string[],
};
export type AttachArguments = typeof ATTACH;
const ATTACH = { verb: 'attach' as const, ...RECORDING, pid: 0 };
export interface DoctorArguments {
  verb: 'doctor';
  format: 'table' | 'json';
}
const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];
export type Verb = Exclude<Arguments['verb'], 'help' | 'version'>;
export type Arguments =
  | RunArguments
  | AttachArguments
  | RecordArguments
  | MarkArguments
  | ReportArguments
  | FitArguments
  | HoldersArguments
  | KernelArguments
  | SqlArguments
  | DoctorArguments
  | { verb: 'mcp' }
  | { verb: 'completion'; shell: Shell }
  | { verb: 'help'; about: Verb | null }
  | { verb: 'version' };
/** A sentence on what is wrong with the command line. */
export interface UsageError {
  usage: string;
}

/** What may have been meant as one: a word with a scheme, or with a port. */
const ADDRESS = /:\/\/|^[\w.-]+:\d+(\/|$)/;

/** Parses what stands behind the program's name. Never throws. */
export function parseArguments(words: readonly string[]): Arguments | UsageError {
  try {
    return parse(words);
  } catch (error) {
    if (error instanceof Usage) return { usage: error.message };
    if (error instanceof HelpRequested) return { verb: 'help', about: verbOf(error.message) };
    throw error;
  }
}

function parse(words: readonly string[]): Arguments {
  const [first, ...rest] = words;
  if (first === undefined) throw new Usage(`Choose a command: ${Object.keys(PARSERS).join(', ')} (see --help).`);
  if (first === '--version' || first === '-v' || first === '-V') return { verb: 'version' };
  if (first === '--help' || first === '-h' || first === 'help') {
    const [about] = rest;
    if (about !== undefined && !about.startsWith('-') && verbOf(about) === null) throw new Usage(noCommand(about));
    return { verb: 'help', about: verbOf(about) };
  }
  const verb = verbOf(first);
  if (verb === null) throw new Usage(noCommand(first));
  return PARSERS[verb](rest);
}

/** What may stand where a command is missing, and the command that takes it. */
const MISSING: [RegExp, string][] = [
  [/\.py$/, 'run -- python'],
  [/\.(gputrace|pickle)$/, 'report'],
  [/^\d+$/, 'attach'],
];

function noCommand(word: string): string {
  if (/^(compare|diff)$/.test(word))
    return `"${word}" is not a command: did you mean "gpu-memtrace report NEW --compare BASE"?`;
  const near = nearest(word, [...Object.keys(PARSERS), '--help', '--version']);
  if (near !== null) return `"${word}" is not a command: did you mean ${near}?`;
  const command = MISSING.find(([pattern]) => pattern.test(word))?.[1];
  if (command !== undefined) return `"${word}" is not a command: did you mean "gpu-memtrace ${command} ${word}"?`;
  return `"${word}" is not a command. Commands: ${Object.keys(PARSERS).join(', ')}.`;
}

/** What stands behind a verb. */
const PARSERS: Record<Verb, (words: readonly string[]) => Arguments> = {
  run: parseRun,
  attach: parseAttach,
  record: parseRecord,
  mark: parseMark,
  report: parseReport,
  fit: parseFit,
  holders: parseHolders,
  kernel: parseKernel,
  sql: parseSql,
  doctor: parseDoctor,
  mcp: words => optionsAlone({ verb: 'mcp' } as const, words),
  completion: parseCompletion,
};

function parseCompletion(words: readonly string[]): Arguments {
  const [word, ...more] = applyOptions({ verb: 'completion' }, words);
  const shell = SHELLS.find(each => each === word);
  if (shell === undefined || more.length > 0)
    throw new Usage('Choose a shell: gpu-memtrace completion bash, zsh or fish.');
  return { verb: 'completion', shell };
}

/** Of a verb that takes nothing else. */
function optionsAlone<T extends { verb: Verb }>(parsed: T, words: readonly string[], table?: OptionTable<T>): T {
  const [word] = applyOptions(parsed, words, table);
  const { verb } = parsed;
  if (word !== undefined) throw new Usage(`${verb} does not accept "${word}" (see "gpu-memtrace ${verb} --help").`);
  return parsed;
}

function verbOf(word: string | undefined): Verb | null {
  return (Object.keys(PARSERS) as Verb[]).find(verb => verb === word) ?? null;
}

function parseRun(words: readonly string[]): Arguments {
  const parsed = { ...RUN };
  const options = new Options(words);
  const taken = leadingOptions(parsed, options, RUN_OPTIONS);
  if (parsed.nativeStacks && parsed.backend !== 'uprobe')
    throw new Usage('--native-stacks is an option of the uprobe tracer: add --backend uprobe.');
  if (parsed.holders !== null && parsed.holders !== 'never' && parsed.backend === 'uprobe') {
    throw new Usage('--holders needs the in-process tracer: remove --backend uprobe.');
  }
  const onlyInject = taken.find(option => option.startsWith('--start') || option === '--lean');
  if (onlyInject !== undefined && parsed.backend === 'uprobe') {
    throw new Usage(`${onlyInject} needs the in-process tracer: remove --backend uprobe.`);
  }
  if (parsed.ranks !== null && !parsed.output?.endsWith('/'))
    throw new Usage('--ranks needs a job folder: -o DIR/, with a trailing /.');
  parsed.command = options.rest();
  if (parsed.command.length === 0) {
    throw new Usage('Give the program to run: gpu-memtrace run [options] -- python train.py');
  }
  return parsed;
}

function parseAttach(words: readonly string[]): Arguments {
  const parsed = { ...ATTACH };
  const [word, ...more] = applyOptions(parsed, words, ATTACH_OPTIONS);
  if (word === undefined || more.length > 0) throw new Usage('Give one process: gpu-memtrace attach PID');
  if (/^[1-9]\d{0,9}$/.test(word)) return { ...parsed, pid: Number(word) };
  throw new Usage(`"${word}" is not a process ID: gpu-memtrace attach PID`);
}

const RECORDING_OPTIONS: OptionTable<RecordingArguments> = {
  '--native-stacks': (parsed, options) => (parsed.nativeStacks = options.flag()),
  '--fail-on-leak': (parsed, options) =>
    (parsed.failOnLeak = options.optionalChoice<'leaks' | 'all'>(['all'], 'leaks')),
  '--blocks': (parsed, options) => (parsed.blocks = options.flag()),
  '-o': (parsed, options) => (parsed.output = options.value()),
  '--output': (parsed, options) => (parsed.output = options.value()),
  '--report': (parsed, options) => (parsed.report = options.value()),
  '--format': (parsed, options) => (parsed.format = options.choice(['table', 'json', 'none'])),
  '--detail': (parsed, options) => (parsed.detailBytes = size(options, '--detail')),
  '--budget': (parsed, options) => (parsed.budgetBytes = size(options, '--budget')),
  '--ranks': (parsed, options) => (parsed.ranks = parseRanks(options.value())),
  '--interval': (parsed, options) => (parsed.intervalMs = interval(options.value())),
  '--otlp': (parsed, options) => (parsed.otlp = server(options.optionalValue(ADDRESS, ''))),
  '--prometheus': (parsed, options) => (parsed.prometheus = promFile(options.value())),
};

const BACKENDS = ['auto', 'inject', 'uprobe'] as const;

const RUN_OPTIONS: OptionTable<RunArguments> = {
  ...RECORDING_OPTIONS,
  '--simulate-gpu': (parsed, options) => (parsed.simulateGpu = options.flag()),
  '--log': (parsed, options) => (parsed.log = options.value()),
  '--holders': (parsed, options) => (parsed.holders = options.optionalChoice(HOLDER_TIMES, 'atSteps')),
  '--start': (parsed, options) => {
    if (options.choice(['now', 'paused']) === 'paused') parsed.start ??= {};
  },
  '--start-at': (parsed, options) => (parsed.start = { ...parsed.start, ...startStep(options) }),
  '--start-when': (parsed, options) => (parsed.start = { ...parsed.start, ...startCondition(options) }),
  '--max-steps': (parsed, options) => (parsed.maxSteps = steps(options.value())),
  '--lean': (parsed, options) => (parsed.lean = options.flag()),
  // `auto` is the in-process tracer: it needs no rights and costs least.
  '--backend': (parsed, options) => (parsed.backend = options.choice(BACKENDS) === 'uprobe' ? 'uprobe' : 'inject'),
};

const ATTACH_OPTIONS: OptionTable<AttachArguments> = {
  ...RECORDING_OPTIONS,
  '--simulate-gpu': () => {
    throw new Usage('--simulate-gpu is only for run: a running program already has its GPU.');
  },
  '--backend': (_parsed, options) => {
    if (options.choice(BACKENDS) !== 'inject') return;
    throw new Usage('--backend inject is only for run: nothing is loaded into a running program.');
  },
};

function steps(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Usage(`--max-steps ${text} is not a number of training steps, such as 100.`);
}

/** What node_exporter's textfile collector reads. */
function server(text: string): string {
  if (text === '' || ADDRESS.test(text)) return text;
  throw new Usage(`--otlp ${text} is not a server address, such as http://localhost:4318.`);
}

function promFile(text: string): string {
  if (text.endsWith('.prom')) return text;
  throw new Usage(`--prometheus ${text}: the name must end in .prom, otherwise node_exporter ignores the file.`);
}

function parseDoctor(words: readonly string[]): Arguments {
  return optionsAlone<DoctorArguments>({ verb: 'doctor', format: 'table' }, words, {
    '--format': (doctor, options) => (doctor.format = options.choice(['table', 'json'])),
  });
}

/** `2s`, `500ms`, `1m`, `2` (seconds) in milliseconds. */
function interval(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text);
  const unit = match?.[2] === 'ms' ? 1 : match?.[2] === 'm' ? 60_000 : 1_000;
  const milliseconds = match === null ? NaN : Number(match[1]) * unit;
  if (!(milliseconds >= 100 && milliseconds <= 86_400_000)) {
    throw new Usage(`--interval ${text} is not a time of at least 100ms, such as 2s or 500ms.`);
  }
  return milliseconds;
}
