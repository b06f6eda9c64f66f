import { formatBytes, formatCount, formatDuration, formatPlural } from '../../protocol/format';
import type { MemorySnapshot } from '../../protocol/steps';
import type { OutOfMemory, TraceInfo, TraceSource } from '../../protocol/trace';
import type { OutOfMemoryVerdict, Verdicts } from '../../protocol/verdicts';
import { countedText } from '../findings/outOfMemory';
import { librariesOf, readLibraries } from '../ledger/libraries';
import { siteText } from '../sites/site';
import { missingLines } from './table';
import { givesText } from './tableFindings';

/** Steps of which the bytes of libraries are told. */
const POINTS = 256;

/** Markdown on the failed allocations of a trace that PyTorch could not get over, oldest first: a document each. */
export function oomReport(source: TraceSource, verdicts: Verdicts): string[] {
  const info = source.info();
  const { outOfMemory } = verdicts;
  const counted = countedText(info);
  if (outOfMemory.length > 0)
    return [...outOfMemory.flatMap(each => [...oomDocument(source, each), '']), ...(counted === null ? [] : [counted])];
  const retried = formatPlural(info.outOfMemory.length, 'allocation of the driver', 'allocations of the driver');
  if (info.outOfMemory.length > 0)
    return [`No program ran out of memory: PyTorch emptied its cache after ${retried} had failed, and went on.`];
  return ['No program ran out of memory in this trace.'];
}

/** The document of one failure: what happened, what to try, what was alive, where the rest of the GPU was, what is not known. */
export function oomDocument(source: TraceSource, verdict: OutOfMemoryVerdict): string[] {
  const info = source.info();
  const failure = info.outOfMemory[verdict.index];
  if (failure === undefined) return [];
  const { snapshot } = failure;
  const known =
    snapshot === null ? [] : [...aliveLines(verdict, snapshot), ...deviceLines(source, failure, snapshot, verdict)];
  const lines = [...headLines(source, info, failure, verdict), ...tryLines(verdict), ...known];
  return [...lines, ...unknownLines(info, failure, verdict)].slice(0, -1); // without the empty line behind the last part
}

function headLines(source: TraceSource, info: TraceInfo, failure: OutOfMemory, verdict: OutOfMemoryVerdict): string[] {
  const { requestedBytes, process, device, timeNs } = failure;
  const { step, detail, holder, wentOn, index } = verdict;
  const { pid, command, exitCode } = info.processes[process] ?? { pid: 0, command: [], exitCode: null };
  const card = info.devices.find(one => one.index === device);
  const size = card === undefined || card.totalBytes === 0 ? '' : ` (${card.name}, ${formatBytes(card.totalBytes)})`;
  const where = device < 0 ? 'pinned host memory' : `GPU ${device}${size}`;
  const ended =
    exitCode === null ? ' How the program ended is not known.' : ` The program ended with status ${exitCode}.`;
  const before = info.outOfMemory.filter(
    (one, i) => i < index && one.process === process && one.layer === failure.layer,
  );
  const earlier = `Before, the program had got over ${formatPlural(before.length, 'failed allocation')}: \`gpu-memtrace report FILE --oom\` tells of all that are kept.`;
  return [
    `# Out of memory${step === null ? '' : ` in step ${formatCount(step)}`}: ${formatBytes(requestedBytes)} did not fit`,
    '',
    `${code(siteText(source.site(failure.site)))} asked for ${formatBytes(requestedBytes)} of ${where}, ` +
      `${formatDuration(timeNs)} into the run of process ${pid} (${code(command.join(' '))}).${wentOn === true ? '' : ended}`,
    '',
    `**${plain(detail)}.**${holder === null ? '' : ` ${plain(holder)}`}`,
    '',
    ...(before.length > 0 ? [earlier, ''] : []),
  ];
}

function tryLines({ advice, noAdvice }: OutOfMemoryVerdict): string[] {
  const list = advice.map((each, i) => `${i + 1}. **It ${givesText(each)}:** ${plain(each.text)}`);
  const how =
    'The bytes are computed from what was alive when the allocation failed. They may overlap: do not add them up.';
  return ['## Try first', '', ...(noAdvice === null ? [...list, '', how] : [plain(noAdvice)]), ''];
}

function aliveLines(
  { aliveByLine, aliveByCategory, newInStep }: OutOfMemoryVerdict,
  { step }: MemorySnapshot,
): string[] {
  const lines = aliveByLine.map(({ line, bytes, count }) => [code(line), formatBytes(bytes), formatCount(count)]);
  const kinds = aliveByCategory.map(({ category, bytes, count }) => [
    category === 'unnamed' ? 'temporary, or not told' : category,
    formatBytes(bytes),
    formatCount(count),
  ]);
  const odd = newInStep.map(({ line, bytes, usualBytes }) => [code(line), formatBytes(bytes), formatBytes(usualBytes)]);
  const usual =
    step > 1
      ? 'No line allocated much more than in the steps before.'
      : 'It is the first step: there is none to compare it with.';
  return [
    '## What was alive',
    '',
    ...table(['line', 'bytes', 'blocks'], lines),
    ...(kinds.length > 0 ? table(['purpose', 'bytes', 'blocks'], kinds) : []),
    '## What this step allocated more than the steps before',
    '',
    ...(odd.length > 0 ? table(['line', 'this step', 'usual'], odd) : [usual, '']),
  ];
}

function deviceLines(
  source: TraceSource,
  { process, device }: OutOfMemory,
  { tensorBytes, reservedBytes, driverBytes, processBytes, totalBytes, fragmentation, step }: MemorySnapshot,
  { othersBytes, freeBytes }: OutOfMemoryVerdict,
): string[] {
  const card = source.info().devices.find(({ index }) => index === device);
  const cached = reservedBytes ?? tensorBytes;
  const outside = Math.max(0, driverBytes - cached);
  const read = readLibraries(source, process, device, { points: POINTS, cached: cached > 0 });
  const then = read.map(library => ({
    ...library,
    bytes: library.values[library.steps.findLastIndex(end => end < step)] ?? library.bytes,
  }));
  const libraries = librariesOf(outside, then);
  const gap = fragmentation.segments > 0 ? `, biggest gap ${formatBytes(fragmentation.largestFreeBytes)}` : '';
  const rows: [string, number | null][] = [
    ['tensors of this process', tensorBytes],
    [`PyTorch’s cache, unused${gap}`, reservedBytes === null ? null : reservedBytes - tensorBytes],
    ...(libraries.length > 0 ? libraries : [{ name: 'the library is not known', bytes: outside }]).map(
      ({ name, bytes }): [string, number | null] => [`outside PyTorch: ${name}`, bytes || null],
    ),
    [
      'CUDA context and kernels of this process',
      processBytes === null ? null : Math.max(0, processBytes - driverBytes),
    ],
    ['other processes', othersBytes],
    ['free', freeBytes],
    ['the whole GPU', totalBytes ?? (card?.totalBytes || null)],
  ];
  const known = rows.flatMap(([whose, bytes]) => (bytes === null ? [] : [[whose, formatBytes(bytes)]]));
  return ['## Where the memory of the GPU was', '', ...table(['whose', 'bytes'], known)];
}

/** What could not be told, and why. */
function unknownLines(
  info: TraceInfo,
  { snapshot, process }: OutOfMemory,
  { step, freeBytes }: OutOfMemoryVerdict,
): string[] {
  const simulated = info.processes[process]?.simulated ?? false;
  const lines = simulated ? ['The GPU is simulated.'] : [];
  if (step === null) lines.push('The step is unknown, because no training step was seen to end before.');
  if (snapshot !== null) {
    if (snapshot.reservedBytes === null)
      lines.push('PyTorch’s cache is unknown, because its allocator reported nothing.');
    else if (snapshot.fragmentation.segments === 0)
      lines.push('The biggest gap is unknown, because the segments of PyTorch’s cache were not seen.');
    if (freeBytes === null)
      lines.push('The size of the GPU, and what was free of it, are unknown: the driver was not asked.');
    const why = simulated ? 'a simulated GPU has none' : 'it was not there, or not read yet';
    if (snapshot.usedBytes === null)
      lines.push(`Other processes are unknown, because the GPU’s own account (NVML) is missing: ${why}.`);
    else if (snapshot.processBytes === null)
      lines.push(
        'Other processes are unknown, because the GPU’s own account (NVML) does not name them, as in a container.',
      );
  }
  lines.push(...missingLines(info, true));
  return lines.length === 0 ? [] : ['## What is not known', '', ...lines.map(line => `- ${plain(line)}`), ''];
}

function table(head: readonly string[], rows: readonly string[][]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line), ''];
}

/** Stands as it is, in cells too. */
function code(text: string): string {
  return `\`${text.replaceAll('`', '’').replaceAll('|', '\\|')}\``;
}

/** `<module>` outside of code would be taken for HTML. */
function plain(text: string): string {
  return text.replace(/`[^`]*`|</g, found => (found === '<' ? '\\<' : found));
}
