import { formatCount, formatPlural } from '../../protocol/format';
import type { Finding, FindingVerdict } from '../../protocol/verdicts';
import type { Snapshot } from './snapshot';
import { holderText } from '../findings/wording';

const WORDS: Record<FindingVerdict, string> = {
  leak: 'LEAK',
  oom: 'OUT OF MEMORY',
  fragmentation: 'FRAGMENTATION',
  pending: 'UNUSED CACHE',
  cycle: 'CYCLES',
  anomaly: 'OUTLIER',
  untraced: 'UNTRACED',
};
const MOST = 10;

/** What was found, in sentences, worst first; and how far the steps are. */
export function findingLines({ info, verdicts }: Snapshot): string[] {
  if (verdicts.steps.source === 'none') return [];
  const lines = verdicts.findings.slice(0, MOST).flatMap(findingText);
  const more = verdicts.findings.length - MOST;
  if (more > 0) lines.push(`... and ${formatPlural(more, 'more finding')}`);
  if (lines.length === 0 && !info.live) lines.push('NO LEAK FOUND.');
  const source = verdicts.steps.source === 'time' ? 'slices of time; no training step is known' : verdicts.steps.source;
  lines.push(`${formatPlural(verdicts.steps.count, 'step')} (${source})`, '');
  return lines;
}

function findingText(finding: Finding): string[] {
  const sure = finding.verdict === 'leak' ? ` (confidence ${formatCount(100 * finding.confidence)} %)` : '';
  const title = finding.title.replace(/\.$/, '');
  const head =
    finding.verdict === 'oom' ? title.replace(/^Out of memory/, WORDS.oom) : `${WORDS[finding.verdict]}: ${title}`;
  const lines = [`${head}${sure}.`];
  if (finding.holder !== null) lines.push(`  Held by ${holderText(finding.holder)}.`);
  if (finding.fullAtStep !== null) lines.push(`  Full at about step ${formatCount(finding.fullAtStep)}.`);
  lines.push(`  ${finding.suggestion}`);
  return lines;
}
