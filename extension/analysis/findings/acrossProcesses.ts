import { groupBy } from '../../base/maps';
import { isGrowth, type Finding } from '../../protocol/verdicts';
import { titleOf } from './kinds/wording';

/**
 * The ranks of a job run the same script: a finding that several processes have at the same line is one cause, shown for the
 * process in which it is worst. Numbers stay those of that process. Where the holder of a leak is known in one process, growth at that line in
 * another, which was not queried, is the same cause.
 */
export function mergeAcrossProcesses(findings: readonly Finding[]): Finding[] {
  const held = findings.filter(finding => finding.verdict === 'leak' && finding.holder !== null);
  const causes = groupBy(findings, finding => {
    const leak = held.find(other => other.process !== finding.process && placeKey(other) === placeKey(finding));
    const { verdict, cause, holder } = isGrowth(finding) && finding.holder === null ? (leak ?? finding) : finding;
    return [placeKey(finding), verdict, cause, holder?.path].join('\0');
  });
  return [...causes.values()].flatMap(same => {
    const processes = new Set(same.map(finding => finding.process));
    return processes.size === same.length && same.length > 1 ? [merge(same)] : same;
  });
}

function placeKey(finding: Finding): string {
  const { layer, place } = finding;
  const unplaced = finding.library ?? `site ${finding.sites.join()}`;
  return [layer, finding.class, place === null ? unplaced : `${place.file}:${place.line}`].join('\0');
}

function merge(same: readonly Finding[]): Finding {
  const left = ({ fullInSteps }: Finding): number => fullInSteps ?? Number.MAX_VALUE;
  const withHolder = same.filter(({ holder }) => holder !== null);
  const worst = (withHolder.length > 0 ? withHolder : same).reduce((a, b) =>
    (left(b) - left(a) || a.bytesPerStep - b.bytesPerStep) < 0 ? b : a,
  );
  const sites = [...new Set([...worst.sites, ...same.flatMap(finding => finding.sites)])];
  const confidence = Math.max(...same.map(finding => finding.confidence));
  const merged = { ...worst, processes: same.length, sites, confidence };
  return { ...merged, title: titleOf(merged) };
}
