import type { JobTrend, RankLine, RankSummary } from '../../protocol/job';
import { groupBy } from '../../base/maps';
import { placeText } from '../words';

/** Lines that are shown over runs, those with the greatest change. */
const LINES = 8;

/** How the lines of a program change from run to run: in each the most that one rank had there at once, and its fastest growth. `runs`: oldest first. */
export function lineTrends(runs: readonly (readonly RankSummary[])[]): JobTrend[] {
  if (runs.length < 2) return [];
  const byLine = groupBy(
    runs.flatMap((ranks, run) => ranks.flatMap(({ lines }) => lines.map(line => ({ run, line })))),
    ({ line }) => `${line.file}\0${line.line}\0${line.function}`,
  );
  const trends = [...byLine.values()].flatMap(all => {
    const [first] = all;
    if (first.line.line === 0) return [];
    const most = (valueOf: (line: RankLine) => number): (number | null)[] =>
      runs.map((_, run) => {
        const values = all.filter(each => each.run === run).map(({ line }) => valueOf(line));
        return values.length === 0 ? null : Math.max(...values);
      });
    const { file, line } = first.line;
    return {
      file,
      line,
      place: placeText(first.line),
      peakBytes: most(one => one.peakBytes),
      bytesPerStep: most(one => one.bytesPerStep),
    };
  });
  return trends.sort((a, b) => changeOf(b) - changeOf(a)).slice(0, LINES);
}

/** From the run before to the last one, growth counted for a hundred steps. */
function changeOf({ peakBytes, bytesPerStep }: JobTrend): number {
  const change = (values: readonly (number | null)[]): number => Math.abs((values.at(-1) ?? 0) - (values.at(-2) ?? 0));
  return change(peakBytes) + 100 * change(bytesPerStep);
}
