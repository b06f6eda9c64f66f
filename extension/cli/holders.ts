import { readHolderAnswer, recordedHolders } from '../analysis/findings/kinds/holderAnswers';
import { occasionText } from '../analysis/findings/kinds/holderOccasion';
import { judgeTrace } from '../analysis/findings/judgeTrace';
import { isGrowth } from '../protocol/verdicts';
import { blockDetails, type BlockDetails, detailsText } from '../report/tables/blockDetails';
import { aliveOf, type Survivor, survivorsOf, tensorAt } from '../analysis/series/survivors';
import { overallVerdict } from '../analysis/sites/overallVerdict';
import { holderText, shareOf } from '../analysis/words';
import { besideFound, queryProcess, refusalOf } from '../capture/traces/requests';
import { LAYERS } from '../protocol/trace';
import { formatBytes, formatPlural } from '../text/format';
import type { HolderFound } from '../protocol/requests/verdictRequests';
import type { HoldersArguments } from './arguments/holdersArguments';
import { type OpenTrace, withNamed } from './namedTrace';
import { jsonChunks } from './report/jsonChunks';
import { print } from './output/output';
import { writeResult } from './output/resultFile';

/** Blocks of one question. */
interface Subject {
  title: string;
  process: number;
  sites: number[];
  blocks: Survivor[];
}
type Target = Pick<HoldersArguments, 'line' | 'address'>;
export interface HolderAnswer {
  title: string;
  pid: number;
  sentence: string;
  holders: HolderFound[];
  /** Of the blocks in question: as far as the program's allocator answers. */
  details: BlockDetails;
}

const PATIENCE_MS = 60_000;
const MOST_SITES = 1_000;
const HEX = 16;

/** Queries a traced program for the holders of memory. Returns the exit status: 0, or 1 where none is known. */
export async function holders(options: HoldersArguments, dist: string): Promise<number> {
  return withNamed(options.where, dist, async opened => {
    const answers = await holderAnswers(options, opened);
    if ('error' in answers) return answers;
    if (options.format === 'json') writeResult(jsonChunks({ version: 1, questions: answers }), null);
    else print(answers.flatMap((entry, i) => (i === 0 ? linesOf(entry) : ['', ...linesOf(entry)])));
    return answers.some(entry => entry.holders.length > 0) ? 0 : 1;
  });
}

/** What the program answers, or what was recorded of a program that cannot be queried; the error is one sentence. */
export async function holderAnswers(options: Target, opened: OpenTrace): Promise<HolderAnswer[] | { error: string }> {
  const subjects = subjectsOf(options, opened);
  if ('error' in subjects) return subjects;
  const answers: HolderAnswer[] = [];
  for (const subject of subjects) answers.push(await answerOf(subject, opened));
  return answers;
}

function subjectsOf(options: Target, opened: OpenTrace): Subject[] | { error: string } {
  if (options.address !== null) return byAddress(options.address, opened);
  return options.line !== null ? byLine(options.line, opened) : byLeak(opened);
}

function byAddress(address: bigint, { session, processes }: OpenTrace): Subject[] | { error: string } {
  const title = `0x${address.toString(HEX)}`;
  const subjects = processes.flatMap((process): Subject[] => {
    const found = tensorAt(session, process, address);
    return found === null ? [] : [{ title, process, sites: [found.site], blocks: [found.block] }];
  });
  return subjects.length > 0 ? subjects : { error: `No live tensor starts at ${title}.` };
}

function byLine({ file, line }: { file: string; line: number }, opened: OpenTrace): Subject[] | { error: string } {
  const { session, processes } = opened;
  const title = `${file}:${line}`;
  const sites = LAYERS.flatMap(layer => {
    const order = { groupBy: 'site', sort: 'liveBytes', descending: true, includeDead: true } as const;
    return [...session.sites({ layer, ...order, from: 0, to: MOST_SITES }).id];
  }).filter(id => {
    const frames = session.site(id)?.frames ?? [];
    return frames.some(frame => frame.line === line && (frame.file === file || frame.file.endsWith(`/${file}`)));
  });
  const info = session.info();
  // Of a program that has freed all as it ended, what was found before is printed.
  const isRecorded = (process: number): boolean =>
    refusalOf(info, info.processes[process], opened.directory) !== null &&
    recordedHolders(session, process, sites) !== null;
  const subjects = processes
    .map(process => ({ title, process, sites, blocks: survivorsOf(session, { process, sites, sinceStep: null }) }))
    .filter(({ process, blocks }) => blocks.length > 0 || isRecorded(process));
  return subjects.length > 0 ? subjects : { error: `No memory allocated at ${title} is alive.` };
}

function byLeak({ session, processes }: OpenTrace): Subject[] | { error: string } {
  const verdicts = judgeTrace(session);
  const leaks = verdicts.findings.filter(finding => isGrowth(finding) && processes.includes(finding.process));
  if (leaks.length === 0) {
    const { overall, sentence } = overallVerdict(session.info(), verdicts);
    const why = overall === 'found' ? 'No leak was found.' : sentence;
    return { error: `${why} Use --line, such as --line train.py:41, to query the blocks of a line.` };
  }
  return leaks.map(leak => {
    const { title, process, sites } = leak;
    return { title, process, sites, blocks: survivorsOf(session, leak) };
  });
}

async function answerOf({ title, process, sites, blocks }: Subject, opened: OpenTrace): Promise<HolderAnswer> {
  const { session, directory } = opened;
  const pid = session.info().processes[process]?.pid ?? 0;
  const answer = await queryProcess(session, directory, process, { blocks }, { limitMs: PATIENCE_MS });
  const [queried, alive] = [blocks.length, aliveOf(session, { process, sites }, blocks)];
  const details = blockDetails(session, process, sites, blocks);
  if ('answer' in answer)
    return { title, pid, holders: [], details, ...readHolderAnswer(answer.answer, sites, { queried, alive }) };
  const recorded = recordedHolders(session, process, sites);
  if (recorded === null) return { title, pid, sentence: answer.sentence, holders: [], details };
  const sentence = besideFound(occasionText(recorded, alive), answer.sentence);
  return { title, pid, sentence, holders: recorded.holders, details };
}

function linesOf({ title, pid, sentence, holders: found, details }: HolderAnswer): string[] {
  const lines = found.flatMap(holder => {
    const blocks = `${formatPlural(holder.count, 'block')}, ${formatBytes(holder.bytes)}`;
    const too = shareOf(holder);
    return [`  ${blocks}: ${holderText(holder)}, ${holder.kind}`, ...(too === null ? [] : [`    ${too}`])];
  });
  const detailLines = details.blocks > 0 ? [`  ${detailsText(details)}`] : [];
  return [`${title} (process ${pid})`, `  ${sentence}`, ...lines, ...detailLines];
}
