import { verdictsOf } from '../../analysis/findings/verdictCache';
import { noFailureText, unknownTexts } from '../../report/documents/oomReport';
import { peakLines } from '../../report/tables/peak';
import { reportAllocation } from '../../report/documents/reportDocument';
import { reportFindings, reportLedger } from '../../report/documents/reportVerdicts';
import type { Side } from '../../report/gate/compareText';
import { readGroups, type GroupRow } from '../../report/tables/snapshot';
import { siteText } from '../../analysis/sites/site';
import { filterProblemOf, holderText, shareOf } from '../../analysis/words';
import { allocationRows, listedLayer, type GroupBy, type TraceSource } from '../../protocol/trace';
import { parseCompared } from '../arguments/comparedMoment';
import { selectionOf } from '../report/chosenMoment';
import { compareSides, type ComparedSide } from '../report/compareReport';
import { aboutOf, fitting, pageOf, pick, type Handler, type Page } from './answer';
import { withMoment, withTrace, type Moment, type Where } from './traces';

/** Beside the rows. */
const MOST = { lines: 4, purposes: 4, alive: 6, libraries: 4, frames: 8 };
const BIGGEST = { sort: 'liveBytes', descending: true, from: 0 } as const;

export const getMemorySummary: Handler<Where> = (given, { dist }) =>
  withMoment(given, dist, ({ about, source, verdicts, peak }) => {
    const info = source.info();
    const { rows, total } = readGroups(source, verdicts, { ...BIGGEST, groupBy: 'line', to: MOST.lines });
    const purposes = readGroups(source, verdicts, { ...BIGGEST, groupBy: 'category', to: MOST.purposes }).rows;
    const peaks = info.totals.map(each => pick(each, 'process', 'device', 'layer', 'peakBytes'));
    const facts = {
      steps: verdicts.steps,
      findings: verdicts.findings.length,
      peaks: peaks.filter(each => each.peakBytes > 0),
      ledger: reportLedger(source, info, verdicts).map(({ slopes: _slopes, libraries, ...gpu }) => ({
        ...gpu,
        biggestGapBytes: biggestGap(source, gpu.device),
        libraries: libraries.slice(0, MOST.libraries).map(each => pick(each, 'name', 'bytes')),
      })),
      purposes: purposes.map(each => pick(each, 'label', 'liveBytes')),
      ...(peak !== null && { peak: peakLines(peak) }),
    };
    const lines = fitting(rows.map(rowOf), { ...about, ...facts });
    return { ...facts, lines, moreLines: total - lines.length };
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
  withMoment(given, dist, ({ about, source, verdicts }) => {
    const { cut, ...window } = pageOf(given);
    const wrong = filterProblemOf(filter ?? '');
    if (wrong !== '') throw new Error(wrong);
    const info = source.info();
    const layer = listedLayer(info.totals);
    if (groupBy !== 'block' && site === undefined) {
      const { rows, total } = readGroups(source, verdicts, { ...BIGGEST, groupBy, filter, ...window });
      return cut('rows', rows.map(rowOf), total, { ...about, layer });
    }
    const blocks = source.allocations({ layer, sort: 'bytes', descending: true, filter, site, ...window });
    const rows = allocationRows(blocks).map(row => ({
      ...pick(reportAllocation(info, row), 'address', 'bytes', 'ageSteps', 'name', 'category', 'module', 'site'),
      line: siteText(source.site(row.site)),
    }));
    const stack = site === undefined ? {} : stackOf(site, source, verdicts);
    return cut('rows', rows, blocks.total, { ...about, layer, ...stack });
  });

/** Innermost first; and why its state is what it is. */
function stackOf(id: number, source: TraceSource, { sites }: Moment['verdicts']): object {
  const frames = source.site(id)?.frames;
  if (frames === undefined) throw new Error(`The trace has no call site ${id}: use an id from query_allocations.`);
  const stack = frames.slice(0, MOST.frames).map(({ file, line, function: name }) => `${file}:${line} ${name}`);
  return { stack, moreFrames: frames.length - stack.length, because: sites.get(id)?.because };
}

type Pair = Page & { a: string; b: string; compare_by?: 'line' | 'site' };

export const compareMemory: Handler<Pair> = ({ a, b, compare_by = 'line', ...page }, { dist }) =>
  withSide(a, dist, one =>
    withSide(b, dist, async other => {
      const { from, to, cut } = pageOf(page);
      const { rows, total, ...sums } = await compareSides(compare_by, one, other, to);
      const differences = rows.slice(from).map(row => ({ differenceBytes: row.bytesB - row.bytesA, ...row }));
      const shown = ({ shownMoment }: Side): object => ({ ...(shownMoment && { shownMoment }) });
      const sides = { a: { ...one.about, ...shown(sums.a) }, b: { ...other.about, ...shown(sums.b) } };
      return cut('rows', differences, total, { ...sums, ...sides });
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
export function findingsOf({ about, source, verdicts }: Moment, page: Page = {}, reasons = false): object {
  const { from, to, cut } = pageOf(page);
  const all = reportFindings(source.info(), verdicts).map(({ holder, place, evidence, ...finding }) => {
    const [text, share] = holder === null ? [null, null] : [holderText(holder), shareOf(holder)];
    const news = evidence.filter(line => line !== share && (text === null || !line.includes(text)));
    return {
      ...pick(finding, 'id', 'verdict', 'title', 'pid', 'bytes', 'bytesPerStep', 'sinceStep', 'fullAtStep'),
      confidence: finding.confidence && Math.round(100 * finding.confidence) / 100,
      place: place && pick(place, 'file', 'line', 'function'),
      holder: holder && { says: text, share, ...pick(holder, 'kind', 'file', 'line', 'fix') },
      ...pick(finding, 'unnamed', 'suggestion'),
      ...(reasons && { evidence: news, ruledOut: finding.ruledOut }),
    };
  });
  return cut('findings', all.slice(from, to), all.length, about);
}

export const getFindings: Handler<Where & Page & { include_ruled_out?: boolean }> = (given, { dist }) =>
  withMoment(given, dist, seen => findingsOf(seen, given, given.include_ruled_out));

export const explainOutOfMemory: Handler<Where & { index?: number }> = ({ index, ...given }, { dist }) =>
  withMoment(given, dist, ({ about, source, verdicts: { outOfMemory } }) => {
    if (outOfMemory.length === 0) return { failures: 0, title: noFailureText(source.info()) };
    const verdict = outOfMemory.at(index ?? -1);
    const failure = source.info().outOfMemory[verdict?.index ?? -1];
    if (verdict === undefined || failure === undefined)
      throw new Error(`The trace has no failure ${index}: the largest index is ${outOfMemory.length - 1}.`);
    const { aliveByLine, newInStep, ...rest } = verdict;
    const facts = {
      ...rest,
      ...{ headline: undefined, detail: undefined }, // the title has both
      index: outOfMemory.indexOf(verdict),
      failures: outOfMemory.length,
      requestedBytes: failure.requestedBytes,
      unknown: [...new Set([...about.unknown, ...unknownTexts(source, failure, verdict)])],
    };
    const alive = fitting(aliveByLine.slice(0, MOST.alive), { ...about, ...facts });
    const fresh = fitting(newInStep.slice(0, MOST.alive), { ...about, ...facts, alive });
    return { ...facts, aliveByLine: alive, newInStep: fresh };
  });
