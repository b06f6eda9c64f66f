import { EXPORT_FORMATS, type ExportFormat } from '../../protocol/exportFormats';
import { parseTraceTime, type TraceTime } from '../../protocol/traceTime';
import { GROUP_BYS, type GroupBy } from '../../protocol/trace';
import { type Compared, parseCompared } from './comparedMoment';
import { applyOptions, type OptionTable, Usage } from './optionReader';

export type ReportArguments = typeof REPORT;
const REPORT = {
  verb: 'report' as const,
  file: '',
  format: 'table' as 'table' | 'json' | ExportFormat,
  /** null: stdout. */
  output: null as string | null,
  groupBy: null as GroupBy | null,
  /** List the blocks, however many there are. */
  blocks: false,
  /** Everything as it was then; null: at the end. */
  at: null as TraceTime | null,
  /** Only what was allocated from here on and is alive at `at`. */
  from: null as TraceTime | null,
  /** What it is compared with; several are repeats of one run, see `failAbove`. */
  compare: [] as Compared[],
  /** The part (0.05: 5 %) by which its peak or a line's growth may be above those; null: it is only shown. */
  failAbove: null as number | null,
  /** Only the report of failed allocations. */
  oom: false,
  /** Of a job’s folder with several runs, the one to show; null: the newest. */
  run: null as string | null,
  /** Names, paths and arguments in the page are replaced. */
  redact: false,
};

const GROUPS = GROUP_BYS.filter(by => by !== 'category');

/** What stands behind `report`. Throws `Usage`, `HelpRequested`. */
export function parseReport(words: readonly string[]): ReportArguments {
  const parsed = { ...REPORT };
  const [file, ...more] = applyOptions(parsed, words, REPORT_OPTIONS);
  if (!file || more.length > 0) throw new Usage('Give one trace: gpu-memtrace report FILE.gputrace');
  parsed.file = file;
  if (parsed.groupBy !== null && parsed.format !== 'table' && parsed.format !== 'json')
    throw new Usage(`--group-by is only for table and json: ${parsed.format} has every allocation or stack.`);
  if (parsed.blocks && (parsed.format !== 'table' || parsed.compare.length > 0))
    throw new Usage('--blocks is only for the table of one trace: json, csv and parquet list blocks in any case.');
  const { format, blocks, at, compare, groupBy, redact } = parsed;
  if (redact && format !== 'html') throw new Usage('--redact is only for --format html.');
  if (format === 'html' && at !== null)
    throw new Usage('--at and --between are not for html: the page shows the end, the peak and the ends of steps.');
  if (compare.length > 0) checkCompared(parsed);
  else if (parsed.failAbove !== null)
    throw new Usage('--fail-above needs a trace to compare with: --compare BASE.gputrace');
  if (parsed.oom && (format !== 'table' || blocks || compare.length > 0 || (at ?? groupBy) !== null))
    throw new Usage('--oom writes its own document and can only be combined with -o.');
  return parsed;
}

function checkCompared({ format, from, groupBy, at, compare, failAbove }: ReportArguments): void {
  if (failAbove !== null && (at !== null || groupBy !== null || compare.some(one => one.at !== null)))
    throw new Usage('--fail-above compares whole runs by line and cannot be combined with --at, @T or --group-by.');
  if (failAbove === null && compare.length > 1)
    throw new Usage('--compare accepts one trace; several are only for --fail-above, as repeats of the base run.');
  if (format !== 'table' && format !== 'json')
    throw new Usage(`--compare is only for table and json, not for ${format}.`);
  if (from !== null) throw new Usage('--compare needs moments, not spans: use --at T instead of --between.');
  if (groupBy !== null && groupBy !== 'line' && groupBy !== 'site')
    throw new Usage('--compare compares by line or by site.');
}

const REPORT_OPTIONS: OptionTable<ReportArguments> = {
  '--format': (parsed, options) => (parsed.format = options.choice(['table', 'json', ...EXPORT_FORMATS])),
  '-o': (parsed, options) => (parsed.output = options.value()),
  '--output': (parsed, options) => (parsed.output = options.value()),
  '--group-by': (parsed, options) => (parsed.groupBy = options.choice(GROUPS)),
  '--blocks': (parsed, options) => (parsed.blocks = options.flag()),
  '--run': (parsed, options) => (parsed.run = options.value()),
  '--redact': (parsed, options) => (parsed.redact = options.flag()),
  '--oom': (parsed, options) => (parsed.oom = options.flag()),
  '--compare': (parsed, options) => (parsed.compare = [...parsed.compare, compared(options.value())]),
  '--fail-above': (parsed, options) => (parsed.failAbove = part(options.value())),
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

/** Throws `Usage`. */
export function time(option: string, text: string): TraceTime {
  const parsed = parseTraceTime(text);
  if (parsed !== null) return parsed;
  throw new Usage(`${option} "${text}" is not a point in time, such as 12.5s, 90%, step:120, peak or mark:NAME.`);
}

function part(text: string): number {
  const percent = /^(\d{1,4}(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent !== undefined) return Number(percent) / 100;
  throw new Usage(`--fail-above ${text} is not a percentage, such as 5% or 0.5%.`);
}

function compared(text: string): Compared {
  const parsed = parseCompared(text);
  if (parsed !== null) return parsed;
  throw new Usage(
    `--compare ${text}: @ must be followed by a point in time, such as 12.5s, 90%, step:120, peak or mark:NAME.`,
  );
}
