import { groupBy } from '../../base/maps';
import type { TraceInfo, TraceSource } from '../../protocol/trace';
import type { SiteVerdict, Unjudged } from '../../protocol/verdicts';
import { sum } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import { siteText } from '../sites/site';

// Few, heavy rounds, such as epochs with a list of outputs each, are too few for a verdict. That is not "no leak": they are named.

/** The lines that rose by a part of their process's peak that matters, most first. */
export function unjudgedLines(source: TraceSource, info: TraceInfo, verdicts: Iterable<SiteVerdict>): Unjudged[] {
  const peakOf = ({ process, layer }: SiteVerdict): number =>
    Math.max(0, ...info.totals.filter(one => one.process === process && one.layer === layer).map(one => one.peakBytes));
  const open = [...verdicts].filter(verdict => verdict.state === 'unknown' && verdict.rises >= 2);
  const lines = [...groupBy(open, verdict => siteText(source.site(verdict.site)))].flatMap(([line, own]) => {
    const [first] = own.sort((a, b) => b.risenBytes - a.risenBytes);
    const bytes = sum(own.map(({ risenBytes }) => risenBytes));
    if (first === undefined || bytes < Math.max(T.smallBytes, T.little * peakOf(first))) return [];
    return [{ site: first.site, layer: first.layer, line, bytes, rises: first.rises, because: first.because }];
  });
  return lines.sort((a, b) => b.bytes - a.bytes).slice(0, T.few);
}
