import { groupBy } from '../groups';
import { siteRows, type TraceSource } from '../../protocol/trace';
import type { OtherLine, RowVerdict, VerdictGrouping } from '../../protocol/requests/verdictRequests';
import type { Finding, SiteState, SiteVerdict, Verdicts } from '../../protocol/verdicts';
import { namedFrame } from '../sites/site';

// Verdicts of sites as verdicts of rows: a line or a function has many sites, and the worst of them counts.

/** Verdicts on rows by their ids under a grouping; rows of which nothing is known are left out. */
export function rowVerdicts(
  source: TraceSource,
  verdicts: Verdicts,
  sites: readonly number[],
  by: VerdictGrouping,
): RowVerdict[] {
  const growing = growingBy(source, verdicts, by);
  const findings = new Map(
    verdicts.findings.flatMap(finding => finding.sites.map(site => [site, finding.id] as const)),
  );
  return sites.flatMap(site => {
    const worse = growing.get(keyOf(source, site, by)) ?? [];
    const own = verdicts.sites.get(site);
    const [worst] = worse.length > 0 ? worse : own === undefined ? [] : [own];
    if (worst === undefined) return [];
    const finding = [site, ...worse.map(entry => entry.site)].map(id => findings.get(id)).find(id => id !== undefined);
    const bytesPerStep = worse.reduce((sum, entry) => sum + entry.bytesPerStep, 0);
    return [{ site, state: worst.state, bytesPerStep, because: worst.because, finding: finding ?? null }];
  });
}

/** Growing sites by row, the fastest of a row first. */
function growingBy(source: TraceSource, verdicts: Verdicts, by: VerdictGrouping): Map<string, SiteVerdict[]> {
  const growing = [...verdicts.sites.values()].filter(({ grows }) => grows !== null);
  const fastest = growing.sort((a, b) => b.bytesPerStep - a.bytesPerStep);
  return groupBy(fastest, ({ site }) => keyOf(source, site, by));
}

function keyOf(source: TraceSource, site: number, groupBy: VerdictGrouping): string {
  const found = groupBy === 'site' ? null : source.site(site);
  const frame = namedFrame(found);
  if (found === null || frame === null) return `site ${site}`;
  const { file, line, function: name } = frame;
  return groupBy === 'line' ? `${found.layer} ${file}:${line}` : `${found.layer} ${file} ${name}`;
}

const MOST_LINES = 12;
/** Nobody asks why these are no leak. */
const PLAIN: ReadonlySet<SiteState> = new Set(['transient', 'cache']);

/** The lines of the finding's layer that ever held most and are no part of it, each with its state. */
export function otherLines(source: TraceSource, verdicts: Verdicts, finding: Finding): OtherLine[] {
  const { layer } = finding;
  const most = MOST_LINES * 4;
  const by = { groupBy: 'line', sort: 'peakBytes', descending: true, includeDead: true } as const;
  const query = { layer, ...by, from: 0, to: most };
  const window = source.sites(query);
  const judged = new Map(rowVerdicts(source, verdicts, [...window.id], 'line').map(row => [row.site, row]));
  const own = new Set(finding.places.map(place => `${place.file}:${place.line}`));
  const lines: OtherLine[] = [];
  for (const { id, file, line, function: name, liveBytes } of siteRows(window)) {
    if (lines.length === MOST_LINES) break;
    const verdict = judged.get(id);
    if (verdict === undefined || PLAIN.has(verdict.state) || own.has(`${file}:${line}`)) continue;
    const { state, because } = verdict;
    lines.push({ site: id, file, line, function: name, state, because, liveBytes });
  }
  return lines;
}
