import { t } from '@vscode/l10n';
import { groupBy } from '../../../base/maps';
import { cellName, type CellRun, cellRunsOf } from '../../../protocol/notebookCells';
import { formatBytes, formatCount } from '../../../text/format';
import { listedLayer, type TraceSource } from '../../../protocol/trace';
import type { Finding } from '../../../protocol/verdicts';
import { median, sum } from '../../series/statistics';
import { THRESHOLDS as T } from '../../series/thresholds';
import { placeOf } from '../../sites/site';
import { holderOf, readHolders } from './holderAnswers';
import { KEEPS_RESULTS } from './suggestions';
import { makeFinding } from './wording';

// In a notebook nothing else than its cells may repeat: what each run of one has left is listed, and what grows with each run.

/** Cells that left anything, most first. */
export function leftByCells(source: TraceSource, runs: readonly CellRun[] = cellRunsOf(source.info())) {
  const layer = listedLayer(source.info().totals);
  const left = runs.map(run => {
    const { process, beginNs: bornFromNs, endNs: bornToNs } = run;
    const born = { layer, process, bornFromNs, bornToNs, sort: 'bytes', descending: true, from: 0, to: 0 } as const;
    const { sumBytes: bytes, total: count } = source.allocations(born);
    return { ...run, bytes, count };
  });
  const cells = [...groupBy(left, ({ process, file }) => `${process} ${file}`).values()].map(own => {
    const keep = own.filter(({ bytes }) => bytes > 0).map(({ bytes }) => bytes);
    // What each run left, where most of several did.
    const grows = keep.length >= T.few && keep.length > T.most * own.length ? median(keep) : 0;
    const [{ process, file }] = own;
    const [bytes, count] = [sum(own.map(one => one.bytes)), sum(own.map(one => one.count))];
    // All of its runs, with what is alive of what they allocated.
    return { process, file, bytes, count, runs: own, grows };
  });
  return cells.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
}

/** `In [7]`, `In [9, 10, 11], which leaves 13.33 MiB more each time you run it`. */
export function cellText({ file, grows }: { file: string; grows: number }): string {
  const name = cellName(file) ?? file;
  return grows > 0 ? t('{0}, which leaves {1} more each time you run it', name, formatBytes(grows)) : name;
}

/** Cells that leave more with each run; those with a site that has a finding already are left out. */
export function cellFindings(source: TraceSource, reported: ReadonlySet<number>): Finding[] {
  const growing = leftByCells(source).filter(({ grows }) => grows > 0);
  const answers = growing.length > 0 ? readHolders(source) : [];
  return growing.flatMap(cell => {
    const { process, file, bytes, count, grows, runs } = cell;
    const sites = sitesOf(source, cell);
    const places = sites.flatMap(site => placeOf(source, site, grows) ?? []);
    if (sites.some(site => reported.has(site))) return [];
    const holder = holderOf(answers, process, sites, T.most, 1);
    const runsLeft = formatCount(runs.filter(run => run.bytes > 0).length);
    return makeFinding({
      id: `cell ${process} ${file}`,
      verdict: source.info().live ? 'rising' : 'rose',
      class: 'outputs',
      headline: t('{0} leaves more memory each time you run it', cellName(file) ?? file),
      detail: t(
        'memory from {0} of {1} runs is still alive, {2} per run',
        formatBytes(bytes),
        runsLeft,
        formatBytes(grows),
      ),
      ...{ process, layer: listedLayer(source.info().totals), bytes, count, sites, places, holder },
      place: places[0] ?? null,
      suggestion:
        holder?.kind === 'output'
          ? KEEPS_RESULTS
          : t(
              'Re-create the object to which the cell adds memory at the start of the cell, or delete it (`del`) before you run the cell again.',
            ),
    });
  });
}

/** Sites of the biggest blocks that the runs of a cell left. */
function sitesOf(source: TraceSource, { process, runs }: ReturnType<typeof leftByCells>[number]): number[] {
  const layer = listedLayer(source.info().totals);
  const found = runs.flatMap(({ beginNs: bornFromNs, endNs: bornToNs }) => {
    const born = { layer, process, bornFromNs, bornToNs, sort: 'bytes', descending: true, from: 0, to: T.few } as const;
    return [...source.allocations(born).site];
  });
  return [...new Set(found)];
}
