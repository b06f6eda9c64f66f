import { groupBy } from '../groups';
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
  const worst = same.reduce((a, b) => (b.bytesPerStep > a.bytesPerStep ? b : a));
  const first = same.toSorted((a, b) => left(a) - left(b))[0];
  const merged = {
    ...worst,
    processes: same.length,
    sites: [...new Set([...worst.sites, ...same.flatMap(finding => finding.sites)])],
    fullAtStep: first?.fullAtStep ?? null,
    fullInSteps: first?.fullInSteps ?? null,
    fullInSeconds: first?.fullInSeconds ?? null,
    confidence: Math.max(...same.map(finding => finding.confidence)),
  };
  return { ...merged, title: titleOf(merged) };
}

function left({ fullInSteps }: Finding): number {
  return fullInSteps ?? Infinity;
}
