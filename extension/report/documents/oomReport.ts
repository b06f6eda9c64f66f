import { t } from '@vscode/l10n';
import { formatBytes, formatCount, formatDuration, formatPlural } from '../../text/format';
import { isSnapshot } from '../../protocol/notes';
import { CATEGORIES, type Category, type OutOfMemory, type TraceInfo, type TraceSource } from '../../protocol/trace';
import type { OutOfMemoryCause, OutOfMemoryVerdict, Verdicts } from '../../protocol/verdicts';
import { groupBy } from '../../base/maps';
import { code, plain } from '../../text/markdown';
import { moduleText } from '../../text/moduleText';
import { roomTexts, savesText, withForecast } from '../../text/roomText';
import { countedText } from '../../analysis/findings/kinds/outOfMemory';
import { librariesOf, readLibraries } from '../../analysis/ledger/libraries';
import { pausedIn, unusedIn } from '../../analysis/ledger/pools';
import { inSentence, siteText } from '../../analysis/sites/site';
import { foldEqualLayers } from '../trees/equalLayers';
import { rankOf } from '../../protocol/rank';
import { rangesAt } from '../../protocol/ranges';
import { categoriesText, NO_MODULE, readModules, type ModuleRow } from '../trees/modules';
import { sum } from '../../analysis/series/statistics';
import { missingLines } from '../tables/table';
import { thatHold, WORDS } from '../../analysis/words';

const MODULES = 10;
const WAYS =
  'The run was replayed by the rules of PyTorch’s allocator up to the failure, or up to the step that failed if its batch was larger than those before; everything except the model, its gradients and its optimizer is assumed to grow with the batch. Allocations after the failure are unknown. More: `gpu-memtrace fit FILE.gputrace`';

const STACKS =
  'Bytes allocated by call stacks that still held memory when the allocation failed. What other call stacks of these lines allocated is not counted.';

/** Numbers are bytes; null: not known. */
type Row = (string | number | null)[];

/** Behind the end of a trace, however its times are read. */
export const BEHIND_NS = 1e9;

/** Reads a trace as it was at other times; `endNs`: behind its end, null: as it is open. */
export interface FailureReader {
  endNs: number | null;
  readAt<T>(untilNs: number | null, read: (then: TraceSource) => T): Promise<T>;
  /** What would have fitted in so much memory, and the largest batch then; the best first. */
  waysToFit(failure: OutOfMemory, limitBytes: number): Promise<string[][]>;
}

/** What the trace shows of a failed allocation once more: what was alive by module, and what would have fitted. */
export interface FailureParts {
  modules: ModuleRow[];
  ways: string[][];
}

/** Where more memory is not what would help, nothing is forecast. */
const WITH_WAYS: readonly OutOfMemoryCause[] = ['full', 'fragmentation', 'big-request'];

/** The parts of each of these failed allocations; empty where the trace cannot be read again. */
export async function partsOfFailures(
  { endNs, readAt, waysToFit }: FailureReader,
  judged: readonly OutOfMemoryVerdict[],
): Promise<FailureParts[]> {
  if (judged.length === 0) return [];
  try {
    const failures = await readAt(endNs, then => then.info().outOfMemory);
    const parts: FailureParts[] = [];
    for (const { index, cause, reservedBytes, freeBytes } of judged) {
      const failure = failures[index];
      const { timeNs = 0, process = 0, device = 0 } = failure ?? {};
      const modules = await readAt(timeNs, then => readModules(then, { layer: 'tensor', process, device }));
      const known = failure !== undefined && reservedBytes !== null && freeBytes !== null && WITH_WAYS.includes(cause);
      parts.push({ modules, ways: known ? await waysToFit(failure, reservedBytes + freeBytes) : [] });
    }
    return parts;
  } catch {
    return []; // its files are gone
  }
}

/** The document of the newest failure of each process, by its number; `name`: of its file, without `.md`. */
export async function oomDocuments(
  source: TraceSource,
  { outOfMemory }: Verdicts,
  reader: FailureReader,
): Promise<{ process: number; name: string; lines: string[] }[]> {
  const info = source.info();
  const newest = new Map(outOfMemory.map(verdict => [info.outOfMemory[verdict.index]?.process ?? 0, verdict]));
  const parts = await partsOfFailures(reader, [...newest.values()]);
  return [...newest].map(([process, verdict], at) => {
    const lines = oomDocument(source, verdict, parts[at]);
    const facts = info.processes[process];
    const rank = facts && rankOf(facts).rank;
    return { process, name: `oom-${rank === null || rank === undefined ? '' : `${rank}-`}${facts?.pid}`, lines };
  });
}

/** Markdown on the failed allocations of a trace that PyTorch could not get over, oldest first: a document each. */
export function oomReport(source: TraceSource, { outOfMemory }: Verdicts, parts: readonly FailureParts[]): string[] {
  const info = source.info();
  const counted = countedText(info);
  const documents = outOfMemory.flatMap((verdict, i) => [
    ...(i > 0 ? [''] : []),
    ...oomDocument(source, verdict, parts[i]),
  ]);
  if (documents.length > 0) return counted === null ? documents : [...documents, '', counted];
  return [noFailureText(info)];
}

/** The text where there is no document. */
export function noFailureText({ outOfMemory }: TraceInfo): string {
  if (outOfMemory.length === 0) return 'No program ran out of memory in this trace.';
  const retried = formatPlural(outOfMemory.length, 'driver allocation', 'driver allocations');
  return `No program ran out of memory: ${retried} failed, but PyTorch emptied its cache and continued.`;
}

/** The document of one failure. It has what happened, what to try, what was alive, where the rest of the GPU was, what is not known. */
function oomDocument(source: TraceSource, verdict: OutOfMemoryVerdict, again?: FailureParts): string[] {
  const { modules, ways } = again ?? { modules: [], ways: [] };
  const failure = source.info().outOfMemory[verdict.index];
  if (failure === undefined) return [];
  const { advice, noAdvice, aliveByLine, newInStep } = verdict;
  const tries = advice.map(
    (each, i) => `${i + 1}. ${plain(withForecast(each, 'terminal', t))} **This ${savesText(each, verdict, t)}.**`,
  );
  const when = failure.snapshot === null ? 'at the end of the last step' : 'when the allocation failed';
  const how = `The sizes are computed from the live memory ${when}. They may overlap, so do not add them up.`;
  const alive = aliveByLine.map(({ line, bytes, count }): Row => [code(line), bytes, formatCount(count)]);
  const kinds = purposes(verdict, modules).map(([category, bytes]): Row => [WORDS.categories[category], bytes]);
  const known = modules.some(({ label }) => label !== NO_MODULE) ? foldEqualLayers(modules).slice(0, MODULES) : [];
  const parts = known.map(({ label, liveBytes, categories }): Row => [
    code(moduleText(label, t)),
    liveBytes,
    categoriesText(categories),
  ]);
  const odd = [...groupBy(newInStep, ({ line }) => line)].map(([line, stacks]): Row => {
    return [code(line), sum(stacks.map(({ bytes }) => bytes)), sum(stacks.map(({ usualBytes }) => usualBytes))];
  });
  const unknown = unknownTexts(source, failure, verdict).map(text => `- ${plain(text)}`);
  return [
    ...headLines(source, failure, verdict),
    ...part('Suggestions', noAdvice === null ? [...tries, '', how] : [plain(noAdvice)]),
    ...part('What would fit', ways.length === 0 ? [] : [...table(['change', 'largest batch'], ways), '', WAYS]),
    ...part('Live memory', table(['line', 'bytes', 'blocks'], alive)),
    ...part('Live memory by module', table(['module', 'bytes', 'for'], parts)),
    ...part('Live memory by purpose', table(['purpose', 'bytes'], kinds)),
    ...part(
      'Allocated more in this step than before',
      odd.length === 0 ? [] : [...table(['line', 'this step', 'usual'], odd), '', STACKS],
    ),
    ...part('GPU memory', table(['part', 'bytes'], deviceRows(source, failure, verdict))),
    ...part('Unknown', unknown),
    '',
    'To share the page of the trace as one file: `gpu-memtrace report FILE.gputrace --format html -o page.html`',
  ];
}

function headLines(source: TraceSource, failure: OutOfMemory, verdict: OutOfMemoryVerdict): string[] {
  const { requestedBytes, process, device, timeNs, layer, thread } = failure;
  const { step, detail, holder, wentOn } = verdict;
  const { processes, outOfMemory } = source.info();
  const { pid = 0, command = [], exitCode = null } = processes[process] ?? {};
  const taken = isSnapshot(processes[process]);
  const ended = taken
    ? ''
    : exitCode === null
      ? 'The exit status of the process is unknown.'
      : `The process ended with exit status ${exitCode}.`;
  const before = outOfMemory.filter((one, i) => i < verdict.index && one.process === process && one.layer === layer);
  const others = formatPlural(before.length, 'earlier failure');
  const [bytes, line] = [formatBytes(requestedBytes), code(inSentence(siteText(source.site(failure.site))))];
  const where = device < 0 ? 'of pinned host memory' : `on GPU ${device}`;
  const ranges = rangesAt(source, process, timeNs, thread);
  const inside = ranges === '' ? '' : `, in ${code(ranges)}`;
  const room = roomTexts(verdict, t);
  const request = `${line} requested ${bytes} ${where}${inside}, ${formatDuration(timeNs)} into the ${taken ? 'snapshot’s history' : `run of process ${pid}`}`;
  return [
    `# Out of memory${step === null ? '' : ` in step ${formatCount(step)}`}: ${bytes} did not fit`,
    '',
    `${request} (${code(command.join(' '))}). ${wentOn === true ? '' : ended}`.trimEnd(),
    '',
    `**${plain(detail)}** ${plain(holder ?? '')}`.trimEnd(),
    ...(room.length === 0 ? [] : ['', `GPU memory: ${room.join(', ')}.`]),
    ...(before.length === 0
      ? []
      : ['', `The process recovered from ${others}: see \`gpu-memtrace report FILE --oom\`.`]),
  ];
}

function deviceRows(source: TraceSource, failure: OutOfMemory, verdict: OutOfMemoryVerdict): Row[] {
  const { process, device, snapshot } = failure;
  if (snapshot === null) return [];
  const { tensorBytes, reservedBytes, driverBytes, processBytes, tracedBytes, fragmentation, pools, step } = snapshot;
  const kept = Math.max(0, Math.min(unusedIn(pools), (reservedBytes ?? 0) - tensorBytes));
  const paused = pausedIn(pools);
  const cached = (reservedBytes ?? tensorBytes) - paused;
  const outside = Math.max(0, driverBytes - cached);
  const read = readLibraries(source, process, device, { points: 256, cached: cached > 0 });
  const then = read.map(all => ({ ...all, bytes: all.values[all.steps.findLastIndex(s => s < step)] ?? all.bytes }));
  const libraries = librariesOf(outside, then).map(({ name, bytes }): Row => [`outside PyTorch: ${name}`, bytes]);
  const gap = fragmentation.segments > 0 ? `, largest gap ${formatBytes(fragmentation.largestFreeBytes)}` : '';
  const rows: Row[] = [
    ['tensors of this process', tensorBytes - paused],
    ['PyTorch’s cache, unused, in pools of CUDA graphs and MemPools', kept > 0 ? kept : null],
    [`PyTorch’s cache, unused${gap}`, reservedBytes && reservedBytes - tensorBytes - kept],
    ...(libraries.length > 0 ? libraries : [['outside PyTorch: unknown library', outside || null]]),
    [
      'CUDA context and kernels of this process',
      processBytes && (Math.max(0, processBytes - (tracedBytes ?? 0)) || null),
    ],
    ['other processes', verdict.othersBytes],
    ['free', verdict.freeBytes],
    ['total', verdict.totalBytes],
  ];
  return rows.filter(([, bytes]) => bytes !== null);
}

/**
 * The trace read again has more names than what was read while they were still being written. Where no gradient has a name, those that a
 * suggestion knows by their lines are taken out of what has none.
 */
export function purposes(
  { aliveByCategory, advice }: Pick<OutOfMemoryVerdict, 'aliveByCategory' | 'advice'>,
  modules: readonly Pick<ModuleRow, 'categories'>[],
): [Category, number][] {
  const bytesOf = (category: Category): number =>
    modules.length > 0
      ? sum(modules.map(({ categories }) => categories[category] ?? 0))
      : (aliveByCategory.find(row => row.category === category)?.bytes ?? 0);
  const known = advice.find(({ kind }) => kind === 'zero-grad')?.bytes ?? 0;
  const moved = bytesOf('gradient') === 0 ? Math.min(known, bytesOf('unnamed')) : 0;
  const change: Partial<Record<Category, number>> = { gradient: moved, unnamed: -moved };
  return CATEGORIES.map((category): [Category, number] => [
    category,
    bytesOf(category) + (change[category] ?? 0),
  ]).filter(([, bytes]) => bytes > 0);
}

/** What is unknown of a failure, and why. */
export function unknownTexts(
  source: TraceSource,
  { snapshot, process }: OutOfMemory,
  verdict: OutOfMemoryVerdict,
): string[] {
  const simulated = source.info().processes[process]?.simulated ?? false;
  const { reservedBytes = 0, usedBytes = 0, processBytes = 0, fragmentation } = snapshot ?? {};
  const missing = simulated ? 'do not exist for a simulated GPU' : 'were not available';
  const why = usedBytes === null ? missing : 'do not list them, as in a container';
  const unseen = reservedBytes !== null && fragmentation?.segments === 0;
  // prettier-ignore
  const texts = thatHold([
    [simulated, 'The GPU is simulated.'],
    [verdict.step === null, 'The step is unknown, because no training step had ended before.'],
    [reservedBytes === null, 'The size of PyTorch’s cache is unknown, because PyTorch’s allocator reported nothing.'],
    [unseen, 'The largest gap is unknown, because the segments of PyTorch’s allocator were not recorded.'],
    [verdict.totalBytes === null && verdict.freeBytes === null, 'The total and free memory of the GPU are unknown, because the driver was not queried.'],
    [verdict.totalBytes === null && verdict.freeBytes !== null, 'The total memory of the GPU is unknown, because the driver was not queried.'],
    [usedBytes === null || processBytes === null, `The memory of other processes is unknown, because the GPU’s own figures (NVML) ${why}.`],
  ]);
  return [...texts, ...missingLines(source.info(), true)];
}

/** Nothing where there is nothing in it. */
function part(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines];
}

function table(head: readonly string[], rows: readonly Row[]): string[] {
  const line = (cells: Row): string =>
    `| ${cells.map(cell => (typeof cell === 'number' ? formatBytes(cell) : cell)).join(' | ')} |`;
  return rows.length === 0
    ? []
    : [line([...head]), line(head.map((name, i) => (i === 0 || name === 'for' ? '---' : '---:'))), ...rows.map(line)];
}
