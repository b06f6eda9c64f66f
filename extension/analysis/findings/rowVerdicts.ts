import { groupBy } from '../../base/maps';
import { baseName } from '../../text/format';
import { allocationRows, siteRows, type GroupBy, type SiteRow, type TraceSource } from '../../protocol/trace';
import type { OtherLine, RowVerdict, VerdictGrouping } from '../../protocol/requests/verdictRequests';
import { GROWING, type Finding, type SiteState, type SiteVerdict, type Verdicts } from '../../protocol/verdicts';
import { namedFrame } from '../sites/site';

// Verdicts of sites as verdicts of rows: a line or a function has many sites, and the worst of them counts.

type LineGrouping = VerdictGrouping | 'file';

/** Verdicts on rows by their ids under a grouping; rows of which nothing is known are left out. */
export function rowVerdicts(
  source: TraceSource,
  verdicts: Verdicts,
  sites: readonly number[],
  by: LineGrouping,
): RowVerdict[] {
  const growingByRow = groupBy(growing(verdicts), ({ site }) => keyOf(source, site, by));
  return sites.flatMap(site => {
    const worse = growingByRow.get(keyOf(source, site, by)) ?? [];
    const own = verdicts.sites.get(site);
    const [worst] = worse.length > 0 ? worse : own === undefined ? [] : [own];
    if (worst === undefined) return [];
    const bytesPerStep = worse.reduce((sum, entry) => sum + entry.bytesPerStep, 0);
    return [{ site, state: worst.state, bytesPerStep, because: worst.because }];
  });
}

/** What the sites of a row do, and how fast they grow in all. */
type GroupVerdict = Pick<RowVerdict, 'state' | 'bytesPerStep'>;

/** Of each row under any grouping; null where nothing is known, and where a file, a thread, a process or a device does not grow. */
export function groupVerdicts(
  source: TraceSource,
  verdicts: Verdicts,
  rows: readonly SiteRow[],
  by: GroupBy,
): (GroupVerdict | null)[] {
  if (by === 'category' || by === 'module-path' || by === 'pool') return rows.map(() => null);
  if (by === 'thread' || by === 'process' || by === 'device') {
    const growing = growingByMaker(source, verdicts, by);
    return rows.map(row => growing.get(makerKey(row, by)) ?? null);
  }
  const ids = rows.map(({ id }) => id);
  const judged = new Map(rowVerdicts(source, verdicts, ids, by).map(row => [row.site, row]));
  return ids.map(id => {
    const verdict = judged.get(id);
    return verdict === undefined || (by === 'file' && verdict.bytesPerStep === 0) ? null : verdict;
  });
}

/** So many of a site's newest blocks show what they belong to. */
const NEWEST = 256;
type Maker = 'thread' | 'process' | 'device';

/** What grows, by what makes it: a site of several counts for each by its part of the newest blocks. */
function growingByMaker(source: TraceSource, verdicts: Verdicts, by: Maker): Map<string, GroupVerdict> {
  const found = new Map<string, GroupVerdict>();
  for (const { site, layer, state, bytesPerStep } of growing(verdicts)) {
    const newest = allocationRows(
      source.allocations({ layer, site, sort: 'age', descending: false, from: 0, to: NEWEST }),
    );
    for (const [key, own] of groupBy(newest, row => makerKey(row, by))) {
      const before = found.get(key) ?? { state, bytesPerStep: 0 };
      found.set(key, { ...before, bytesPerStep: before.bytesPerStep + (bytesPerStep * own.length) / newest.length });
    }
  }
  return found;
}

function makerKey({ process, thread, device }: Pick<SiteRow, Maker>, by: Maker): string {
  return { thread: `${process} ${thread}`, process: `${process}`, device: `${device}` }[by];
}

const WORST: readonly SiteState[] = GROWING;

/** Sites that grow, leaks first, then the fastest. */
function growing({ sites }: Verdicts): SiteVerdict[] {
  const found = [...sites.values()].filter(({ grows }) => grows !== null);
  return found.sort((a, b) => WORST.indexOf(a.state) - WORST.indexOf(b.state) || b.bytesPerStep - a.bytesPerStep);
}

function keyOf(source: TraceSource, site: number, by: LineGrouping): string {
  const found = by === 'site' ? null : source.site(site);
  if (found === null) return `site ${site}`;
  const { layer, library } = found;
  const frame = namedFrame(found);
  if (frame === null) return `${layer} in ${baseName(library)}`; // a library stands for a missing line
  const { file, line, function: name } = frame;
  return by === 'line' ? `${layer} ${file}:${line}` : by === 'file' ? `${layer} ${file}` : `${layer} ${file} ${name}`;
}

const MOST_LINES = 12;
/** For these no reason is shown why they are no leak. */
const PLAIN: ReadonlySet<SiteState> = new Set(['transient', 'cache']);

/**
 * The lines of the finding's layer that ever held most and are no part of it, each with its state.
 * @param shown the trace at the moment that is shown, of which the bytes are
 */
export function otherLines(source: TraceSource, verdicts: Verdicts, finding: Finding, shown: TraceSource): OtherLine[] {
  const { layer } = finding;
  const most = MOST_LINES * 4;
  const by = { groupBy: 'line', sort: 'peakBytes', descending: true, includeDead: true } as const;
  const query = { layer, ...by, from: 0, to: most };
  const window = source.sites(query);
  const judged = new Map(rowVerdicts(source, verdicts, [...window.id], 'line').map(row => [row.site, row]));
  const bytes = new Map([...siteRows(shown.sites(query))].map(row => [`${row.file}:${row.line}`, row.liveBytes]));
  const own = new Set(finding.places.map(place => `${place.file}:${place.line}`));
  const lines: OtherLine[] = [];
  for (const { id, file, line, function: name } of siteRows(window)) {
    if (lines.length === MOST_LINES) break;
    const verdict = judged.get(id);
    if (verdict === undefined || PLAIN.has(verdict.state) || own.has(`${file}:${line}`)) continue;
    const { state, because } = verdict;
    const liveBytes = bytes.get(`${file}:${line}`) ?? 0;
    lines.push({ site: id, file, line, function: name, state, because, liveBytes });
  }
  return lines;
}
