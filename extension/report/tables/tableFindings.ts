import { t } from '@vscode/l10n';
import { formatCount, formatPlural } from '../../text/format';
import { isMinor, type Finding, type Verdicts } from '../../protocol/verdicts';
import { timeUntilFull } from '../../text/pace';
import { savesText, withForecast } from '../../text/roomText';
import { linePlace, titleOf } from '../../analysis/findings/kinds/wording';
import { overallVerdict, unjudgedBeside } from '../../analysis/sites/overallVerdict';
import { WORDS, holderText, placeText, seenText, shareOf } from '../../analysis/words';
import type { Snapshot } from './snapshot';

/** What is written of failures, by process. */
export type OomFiles = ReadonlyMap<number, string>;

interface Shown {
  oomFiles?: OomFiles;
  /** The program runs. */
  live?: boolean;
}

/** What was found, in sentences, worst first; and how far the steps are. */
export function findingLines({ info, verdicts }: Snapshot, most: number, oomFiles?: OomFiles): string[] {
  if (verdicts.steps.source === 'none' && verdicts.findings.length === 0) return [];
  const lines = verdicts.findings
    .slice(0, most)
    .flatMap(one =>
      isMinor(one, verdicts.findings) ? headLine(one) : findingText(one, { oomFiles, live: info.live }),
    );
  const left = verdicts.findings.length - most;
  if (left > 0) lines.push(`... and ${formatPlural(left, 'more finding')}`);
  const { overall, sentence } = overallVerdict(info, verdicts);
  const more = lines.length === 0 ? null : unjudgedBeside(info, verdicts);
  if (lines.length === 0) lines.push(overall === 'clean' && !info.live ? 'NO LEAK FOUND.' : sentence);
  if (more !== null) lines.push(`NOT JUDGED: ${more}`);
  if (verdicts.steps.source !== 'none') lines.push(stepsText(verdicts));
  return lines;
}

/** How many steps there were, and what they are taken from. */
export function stepsText({ steps }: Verdicts): string {
  const sources: Record<string, string> = {
    periodic: 'loop iterations',
    time: 'time slices; no training steps are known',
    program: 'marked by the program',
  };
  return `${formatPlural(steps.count, 'step')} (${sources[steps.source] ?? steps.source})`;
}

/** The finding, its holder, when memory is full, and what to write instead: a line each. Of a failure that the program got over, one. */
export function findingText(finding: Finding, { oomFiles = new Map(), live = false }: Shown = {}): string[] {
  const { holder, unnamed, layer, fullAtStep, fullInSeconds, suggestion, failure } = finding;
  const lines = [headLine(finding)];
  const file = failure && oomFiles.get(finding.process);
  const { advice = [], wentOn } = failure ?? {};
  const more = oomFiles.size > 1 ? ` (one for each of ${oomFiles.size} processes)` : '';
  const all = file === undefined ? '' : `Full out-of-memory report: ${file}${more}`;
  if (wentOn === true) return [`${lines.join()} ${all}`.trimEnd()];
  if (holder !== null && holder.kind !== 'none') lines.push(`  Held by ${holderText(holder)}.`);
  else if (unnamed !== null && layer === 'tensor') lines.push(`  ${unnamed}`);
  const share = holder && shareOf(holder);
  if (share !== null) lines.push(`  ${share}`);
  if (holder?.asked !== undefined) lines.push(`  ${seenText(holder.asked)}`);
  const time = timeUntilFull(fullInSeconds, t);
  const step = formatCount(fullAtStep ?? 0);
  const [now, later] = live ? ['will be full', `in ${time}, `] : ['would have been full', `${time} later, `];
  if (fullAtStep !== null)
    lines.push(`  At this rate, the GPU ${now} ${time === null ? '' : later}at about step ${step}.`);
  if (advice.length === 0) lines.push(`  ${suggestion}`);
  if (failure)
    lines.push(
      ...advice.map(
        (each, i) =>
          `  ${i === 0 ? 'Try first' : 'Or'} (${savesText(each, failure, t)}): ${withForecast(each, 'terminal', t)}`,
      ),
    );
  if (all !== '') lines.push(`  ${all}`);
  return lines;
}

/** What was found, where and how fast, in a sentence. */
export function headLine(finding: Finding): string {
  const { verdict, title, confidence } = finding;
  const word = WORDS.findings[verdict].name.toUpperCase();
  const sure = verdict === 'leak' ? `; confidence ${formatCount(100 * confidence)}%` : '';
  return verdict === 'oom' ? titleOf(finding, word) : `${word}: ${title}${sure}.`;
}

/** The line for growth that has stopped; `because`: why its site is no leak now. */
export function takenBackLine({ verdict, holder, place }: Finding, because: string): string {
  const where = placeText(linePlace(holder) ?? place);
  const now = verdict === 'leak' ? `${where} is no longer reported as a leak` : `${where} no longer grows`;
  return `RETRACTED: ${now}. ${because}`.trimEnd();
}
