import { verdictsOf } from '../../analysis/findings/verdictCache';
import { noFailureText, unknownTexts } from '../../analysis/report/oomReport';
import { peakLines } from '../../analysis/report/peak';
import { reportAllocation } from '../../analysis/report/report';
import { reportFindings, reportLedger } from '../../analysis/report/reportVerdicts';
import { readGroups, type GroupRow } from '../../analysis/report/snapshot';
import { siteText } from '../../analysis/sites/site';
import { holderText, shareOf } from '../../analysis/words';
import { CATEGORIES } from '../../protocol/steps';
import { allocationRows, listedLayer, type GroupBy, type TraceSource } from '../../protocol/trace';
import { parseCompared } from '../arguments/moments';
import { selectionOf } from '../report/chosenMoment';
import { compareSides, type ComparedSide } from '../report/compareReport';
import { aboutOf, pageOf, pick, type Handler, type Page } from './answer';
import { look, withTrace, type Look, type Where } from './traces';

/** Rows that an answer of about 2 KB has room for. */
const USUAL = { lines: 4, linesOfPeak: 2, findings: 2, rows: 7, compared: 5, alive: 6, libraries: 4, frames: 8 };
const BIGGEST = { sort: 'liveBytes', descending: true, from: 0 } as const;

export const getMemorySummary: Handler<Where> = (given, { dist }) =>
  look(given, dist, ({ source, verdicts, peak }) => {
    const info = source.info();
    const { rows, total } = readGroups(source, verdicts, {
      ...BIGGEST,
      groupBy: 'line',
      to: peak === null ? USUAL.lines : USUAL.linesOfPeak,
    });
    const purposes = readGroups(source, verdicts, { ...BIGGEST, groupBy: 'category', to: CATEGORIES.length }).rows;
    const totals = info.totals.map(each => pick(each, 'process', 'device', 'layer', 'liveBytes', 'peakBytes'));
    return {
      steps: verdicts.steps,
      findings: verdicts.findings.length,
      totals: totals.filter(each => each.peakBytes > 0),
      ledger: reportLedger(source, info, verdicts).map(({ slopes: _slopes, libraries, ...gpu }) => ({
        ...gpu,
        biggestGapBytes: biggestGap(source, gpu.device),
        libraries: libraries.slice(0, USUAL.libraries).map(each => pick(each, 'name', 'bytes')),
      })),
      purposes: purposes.map(each => pick(each, 'label', 'liveBytes')),
      lines: rows.map(rowOf),
      moreLines: total - rows.length,
      ...(peak !== null && { peak: peakLines(peak) }),
    };
  });

function rowOf(row: GroupRow): object {
  return pick(row, 'id', 'label', 'file', 'line', 'liveBytes', 'liveCount', 'bytesPerStep', 'verdict');
}

/** In PyTorch's cache; null: its segments were not seen. */
function biggestGap(source: TraceSource, device: number): number | null {
  const seen = source.info().processes.map(({ index: process }) => source.fragmentation({ process, device }));
  const gaps = seen.flatMap(({ segments, largestFreeBytes }) => (segments > 0 ? [largestFreeBytes] : []));
  return gaps.length === 0 ? null : Math.max(...gaps);
}

type Query = Where & Page & { group_by?: GroupBy | 'block'; filter?: string; site?: number };

export const queryAllocations: Handler<Query> = ({ group_by: groupBy = 'line', filter, site, ...given }, { dist }) =>
  look(given, dist, ({ source, verdicts }) => {
    const { more, ...window } = pageOf(given, USUAL.rows);
    const info = source.info();
    const layer = listedLayer(info.totals);
    if (groupBy !== 'block' && site === undefined) {
      const { rows, total } = readGroups(source, verdicts, { ...BIGGEST, groupBy, filter, ...window });
      return { layer, rows: rows.map(rowOf), ...more(total) };
    }
    const blocks = source.allocations({ layer, sort: 'bytes', descending: true, filter, site, ...window });
    const rows = allocationRows(blocks).map(row => ({
      ...pick(reportAllocation(info, row), 'address', 'bytes', 'ageSteps', 'name', 'category', 'module', 'site'),
      line: siteText(source.site(row.site)),
    }));
    return { layer, rows, ...more(blocks.total), ...(site !== undefined && stackOf(site, source, verdicts)) };
  });

/** Innermost first; and why its state is what it is. */
function stackOf(id: number, source: TraceSource, { sites }: Look['verdicts']): object {
  const frames = source.site(id)?.frames;
  if (frames === undefined) throw new Error(`The trace has no site ${id}: take an id of query_allocations.`);
  const stack = frames.slice(0, USUAL.frames).map(({ file, line, function: name }) => `${file}:${line} ${name}`);
  return { stack, moreFrames: frames.length - stack.length, because: sites.get(id)?.because };
}

type Pair = Page & { a: string; b: string; compare_by?: 'line' | 'site' };

export const compareMemory: Handler<Pair> = ({ a, b, compare_by = 'line', ...page }, { dist }) =>
  withSide(a, dist, one =>
    withSide(b, dist, async other => {
      const { from, to, more } = pageOf(page, USUAL.compared);
      const compared = await compareSides(compare_by, one, other, to);
      const { rows, total, ...sums } = compared;
      return {
        ...sums,
        a: { ...one.about, ...sums.a },
        b: { ...other.about, ...sums.b },
        rows: rows.slice(from),
        ...more(total),
      };
    }),
  );

function withSide(text: string, dist: string, use: (side: ComparedSide & { about: object }) => Promise<object>) {
  const { file, at } = parseCompared(text) ?? { file: text, at: null };
  return withTrace(file, dist, (opened, id) => {
    const chosen = selectionOf({ at, from: null }, opened.session);
    if ('error' in chosen) throw new Error(chosen.error);
    const about = { ...aboutOf(id, opened, verdictsOf(opened.session)), moment: chosen.until?.text ?? 'now' };
    return use({ ...opened, file: id, moment: chosen.until, about });
  });
}

/** The findings as an agent reads them. */
export function findingsOf({ source, verdicts }: Look, page: Page = {}, reasons = false) {
  const { from, to, more } = pageOf(page, USUAL.findings);
  const findings = reportFindings(source.info(), verdicts).slice(from, to);
  return {
    findings: findings.map(({ holder, place, ...finding }) => ({
      ...pick(
        finding,
        'id',
        'verdict',
        'title',
        'pid',
        'bytes',
        'bytesPerStep',
        'sinceStep',
        'fullAtStep',
        'confidence',
      ),
      place: place && pick(place, 'file', 'line', 'function'),
      holder: holder && {
        says: holderText(holder),
        share: shareOf(holder),
        ...pick(holder, 'kind', 'file', 'line', 'fix'),
      },
      ...pick(finding, 'unnamed', 'suggestion'),
      ...(reasons && pick(finding, 'evidence', 'ruledOut')),
    })),
    ...more(verdicts.findings.length),
  };
}

export const getFindings: Handler<Where & Page & { include_ruled_out?: boolean }> = (given, { dist }) =>
  look(given, dist, seen => findingsOf(seen, given, given.include_ruled_out));

export const explainOutOfMemory: Handler<Where & { index?: number }> = ({ index, ...given }, { dist }) =>
  look(given, dist, ({ about, source, verdicts: { outOfMemory } }) => {
    if (outOfMemory.length === 0) return { failures: 0, title: noFailureText(source.info()) };
    const verdict = outOfMemory.at(index ?? -1);
    const failure = source.info().outOfMemory[verdict?.index ?? -1];
    if (verdict === undefined || failure === undefined)
      throw new Error(`The trace has no failure ${index}: index goes up to ${outOfMemory.length - 1}.`);
    const { aliveByLine, newInStep, ...told } = verdict;
    return {
      ...told,
      ...{ headline: undefined, detail: undefined }, // the title has both
      index: outOfMemory.indexOf(verdict),
      failures: outOfMemory.length,
      requestedBytes: failure.requestedBytes,
      aliveByLine: aliveByLine.slice(0, USUAL.alive),
      newInStep: newInStep.slice(0, USUAL.alive),
      unknown: [...new Set([...about.unknown, ...unknownTexts(source, failure, verdict)])],
    };
  });
