import { existsSync } from 'node:fs';
import { append } from '../../files/files';
import { dirname, join, relative } from 'node:path';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { comparable, readHoldings } from '../../report/gate/compareHoldings';
import { peakMoment } from '../../report/tables/ending';
import {
  gatePeakText,
  gateWords,
  growthByLine,
  judgeGate,
  noiseText,
  unknownOf,
  type Gate,
  type GatedRun,
} from '../../report/gate/gate';
import type { NativeAddon, NativeTrace } from '../../native/addon';
import { createLineReader } from '../../native/lineReader';
import { traceFacts } from '../../exporters/traceFacts';
import { cwdOf } from '../../protocol/cwd';
import { baseName, formatBytes } from '../../text/format';
import { textOf } from '../../text/escapeForTerminal';
import { code, plain } from '../../text/markdown';
import type { ComparedRow } from '../../protocol/requests/compareRequests';
import { exitCodeOf, listedLayer } from '../../protocol/trace';
import { jsonChunks } from './jsonChunks';
import { atMoment } from './momentSource';
import { notify } from '../output/output';
import { reasonOf } from '../../capture/traces/traceDirectory';

/** Lines that rose by less than this part of the limit are not annotated. */
const WORTH = 0.1;

/** Reads of a trace what is compared. `file`: as the user named it. Rejects with a sentence. */
export async function gatedRun(
  addon: NativeAddon,
  session: NativeTrace,
  path: string,
  file: string,
): Promise<GatedRun> {
  const info = session.info();
  const layer = listedLayer(info.totals);
  const query = { by: 'line', layer, process: -1, device: -1 } as const;
  const peak = await atMoment({ addon, session, path }, peakMoment(session), then => readHoldings(then, query));
  const { simulated, lost } = traceFacts(info, { fromNs: null, untilNs: null });
  return {
    file,
    cwd: cwdOf(info.session),
    simulated,
    steps: Math.max(0, ...info.steps.filter(({ source }) => source !== 'time').map(({ count }) => count)),
    unknown: unknownOf(file, info, lost.events, exitCodeOf(info)),
    peakBytes: peak.reduce((sum, { bytes }) => sum + bytes, 0),
    peak,
    growth: growthByLine(session, verdictsOf(session, createLineReader()), layer),
  };
}

/** The comparison as text or JSON in pieces; in a job of GitHub also as annotations of the lines and in the job's summary. */
export function gateReport(
  bases: readonly [GatedRun, ...GatedRun[]],
  run: GatedRun,
  { limit, format }: { limit: number; format: string },
): { gate: Gate; chunks: Iterable<string> } {
  const gate = judgeGate(bases, run, limit);
  if (process.env.GITHUB_STEP_SUMMARY) summarize(process.env.GITHUB_STEP_SUMMARY, gate, run.file);
  if (format === 'json') return { gate, chunks: jsonChunks({ version: 1, ...gate }) };
  const annotations = process.env.GITHUB_ACTIONS === 'true' ? annotationsOf(gate, run.cwd) : '';
  return { gate, chunks: [textOf(gateLines(gate)), annotations] };
}

function gateLines(gate: Gate): string[] {
  const row = (each: ComparedRow): string => `    ${rowText(each)}`;
  return [
    `PEAK ${gatePeakText(gate)}`,
    ...gate.lines.map(row),
    ...(gate.growth.length > 0 ? ['LEAKED PER STEP', ...gate.growth.map(row)] : []),
    noiseText(gate),
    gateWords(gate),
  ];
}

function rowText({ bytesA, bytesB, movedFrom, ...row }: ComparedRow): string {
  const moved = movedFrom === null ? '' : `, line ${movedFrom} before`;
  return `+${formatBytes(bytesB - bytesA)}  ${placeText(row)}  (${formatBytes(bytesA)} -> ${formatBytes(bytesB)}${moved})`;
}

function placeText({ file, line, function: name }: Pick<ComparedRow, 'file' | 'line' | 'function'>): string {
  return file === '' ? '(no Python line)' : `${baseName(file)}:${line} ${name}`;
}

/** GitHub's workflow commands: docs.github.com, "Workflow commands for GitHub Actions". Names of the program are data there. */
function annotationsOf(gate: Gate, cwd: string): string {
  const escaped = (text: string, signs: RegExp): string =>
    text.replace(signs, one => `%${one.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`);
  const annotation = (row: ComparedRow, title: string): string => {
    if (row.file === '') return '';
    const place = `file=${escaped(inRepository(row.file, cwd), /[%\r\n:,]/g)},line=${row.line}`;
    return `::error ${place},title=${title}::${escaped(rowText(row), /[%\r\n]/g)}\n`;
  };
  const least = WORTH * gate.limit * gate.peak.baseBytes;
  const risen = gate.peak.above ? gate.lines.filter(row => row.bytesB - row.bytesA > least) : [];
  const peak = risen.map(row => annotation(row, 'GPU memory at the peak'));
  return [...peak, ...gate.growth.map(row => annotation(row, 'GPU memory leaked per step'))].join('');
}

/** A file as its repository names it, where it is in one here; else from where the program worked. */
function inRepository(file: string, cwd: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, '.git'))) return relative(folder, file);
  return comparable(file, cwd);
}

function summarize(file: string, gate: Gate, trace: string): void {
  const row = (each: ComparedRow): string =>
    `| ${plain(placeText(each))} | ${formatBytes(each.bytesA)} | ${formatBytes(each.bytesB)} |`;
  const rows = (title: string, all: readonly ComparedRow[]): string[] =>
    all.length === 0 ? [] : ['', `| ${title} | before | now |`, '| --- | ---: | ---: |', ...all.map(row)];
  const lines = [
    `### GPU memory: ${plain(gateWords(gate))}`,
    '',
    `Peak ${gatePeakText(gate)}. ${noiseText(gate)}`,
    ...rows('uses more memory at the peak', gate.lines),
    ...rows('leaks per step', gate.growth),
    '',
    `This run's page, for any browser: ${code(`gpu-memtrace report ${trace} --format html -o page.html`)}`,
  ];
  try {
    append(file, `${lines.join('\n')}\n`);
  } catch (error) {
    notify(`The summary cannot be written to ${file}: ${reasonOf(error)}.`);
  }
}
