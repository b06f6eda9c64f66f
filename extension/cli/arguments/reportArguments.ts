import { EXPORT_FORMATS, type ExportFormat } from '../../exporters/formats';
import { GROUP_BYS, type GroupBy } from '../../protocol/trace';
import { type Compared, parseCompared, parseTraceTime, type TraceTime } from './moments';
import { applyOptions, type OptionTable, Usage } from './options';

export interface ReportArguments {
  verb: 'report';
  file: string;
  format: 'table' | 'json' | ExportFormat;
  /** null: stdout. */
  output: string | null;
  groupBy: GroupBy | null;
  /** List the blocks, however many there are. */
  blocks: boolean;
  /** Everything as it was then; null: at the end. */
  at: TraceTime | null;
  /** Only what was allocated from here on and is alive at `at`. */
  from: TraceTime | null;
  /** What it is compared with; null: nothing. */
  compare: Compared | null;
  /** Only what is to be said of failed allocations. */
  oom: boolean;
}

const GROUPS = GROUP_BYS.filter(by => by !== 'category');

/** What stands behind `report`; null: help is wanted. Throws `Usage`. */
export function parseReport(words: readonly string[]): ReportArguments | null {
  const parsed: ReportArguments = {
    verb: 'report',
    file: '',
    format: 'table',
    output: null,
    groupBy: null,
    blocks: false,
    at: null,
    from: null,
    compare: null,
    oom: false,
  };
  const files = applyOptions(parsed, words, REPORT_OPTIONS);
  if (files === null) return null;
  if (files.length !== 1) throw new Usage('Name one trace: gpu-memtrace report FILE.gputrace');
  parsed.file = files[0] ?? '';
  if (parsed.groupBy !== null && parsed.format !== 'table' && parsed.format !== 'json')
    throw new Usage(`--group-by is for the table and json: ${parsed.format} holds every allocation or stack.`);
  if (parsed.blocks && (parsed.format !== 'table' || parsed.compare !== null))
    throw new Usage('--blocks is for the table of one trace; json and the exports hold every block.');
  if (parsed.compare !== null) checkCompared(parsed);
  const { format, blocks, at, compare, groupBy } = parsed;
  if (parsed.oom && (format !== 'table' || blocks || (at ?? compare ?? groupBy) !== null))
    throw new Usage('--oom writes a document of its own: only -o goes with it.');
  return parsed;
}

function checkCompared({ format, from, groupBy }: ReportArguments): void {
  if (format !== 'table' && format !== 'json')
    throw new Usage(`--compare is for the table and json, not for ${format}.`);
  if (from !== null) throw new Usage('--compare takes moments, not spans: use --at T instead of --between.');
  if (groupBy !== null && groupBy !== 'line' && groupBy !== 'site')
    throw new Usage('--compare compares by line or by site.');
}

const REPORT_OPTIONS: OptionTable<ReportArguments> = {
  '--format': (parsed, options) => (parsed.format = options.choice(['table', 'json', ...EXPORT_FORMATS])),
  '-o': (parsed, options) => (parsed.output = options.value()),
  '--output': (parsed, options) => (parsed.output = options.value()),
  '--group-by': (parsed, options) => (parsed.groupBy = options.choice(GROUPS)),
  '--blocks': (parsed, options) => (parsed.blocks = options.flag()),
  '--oom': (parsed, options) => (parsed.oom = options.flag()),
  '--compare': (parsed, options) => (parsed.compare = compared(options.value())),
  '--at': (parsed, options) => {
    onlyOnce(parsed);
    parsed.at = time('--at', options.value());
  },
  '--between': (parsed, options) => {
    onlyOnce(parsed);
    parsed.from = time('--between', options.value());
    parsed.at = time('--between', options.nextValue());
  },
};

function onlyOnce({ at }: ReportArguments): void {
  if (at !== null) throw new Usage('Give either --at T or --between T1 T2, and only once.');
}

function time(option: string, text: string): TraceTime {
  const parsed = parseTraceTime(text);
  if (parsed !== null) return parsed;
  throw new Usage(`${option} ${text} is not a time of a trace, such as 12.5s, 90%, step:120, peak or mark:NAME.`);
}

function compared(text: string): Compared {
  const parsed = parseCompared(text);
  if (parsed !== null) return parsed;
  throw new Usage(
    `--compare ${text}: behind the @ stands a time of the trace, such as 12.5s, 90%, step:120, peak or mark:NAME.`,
  );
}
