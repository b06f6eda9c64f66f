import { groupBy } from '../../protocol/maps';
import type { Finding } from '../../protocol/verdicts';
import { titleOf } from './wording';

/**
 * The ranks of a job run the same script: a finding that several processes have at the same line is one cause, told by the
 * process in which it is worst. Numbers stay those of that process.
 */
export function mergeAcrossProcesses(findings: readonly Finding[]): Finding[] {
  const causes = groupBy(findings, finding => {
    const { verdict, layer, cause, place, holder } = finding;
    const unplaced = finding.library ?? `site ${finding.sites.join()}`;
    const line = place === null ? unplaced : `${place.file}:${place.line}`;
    return [verdict, finding.class, cause, layer, line, holder?.path].join('\0');
  });
  return [...causes.values()].flatMap(same => {
    const processes = new Set(same.map(finding => finding.process));
    return processes.size === same.length && same.length > 1 ? [merge(same)] : same;
  });
}

function merge(same: readonly Finding[]): Finding {
  const left = ({ fullInSteps }: Finding): number => fullInSteps ?? Number.MAX_VALUE;
  const worst = same.reduce((a, b) => ((left(b) - left(a) || a.bytesPerStep - b.bytesPerStep) < 0 ? b : a));
  const sites = [...new Set([...worst.sites, ...same.flatMap(finding => finding.sites)])];
  const confidence = Math.max(...same.map(finding => finding.confidence));
  const merged = { ...worst, processes: same.length, sites, confidence };
  return { ...merged, title: titleOf(merged) };
}
