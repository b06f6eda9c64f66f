import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../protocol/format';
import type { JobDifference, RankFinding, RankLine, RankSummary } from '../../protocol/job';
import { isGrowth, isLeak } from '../../protocol/verdicts';
import { groupBy } from '../groups';
import { median, robustDeviation, sum } from '../series/statistics';
import { placeText } from '../words';
import { whoText } from './who';

/** Of two ranks that do the same, one may hold so much more: sizes of batches and of what is padded differ a little. */
const LITTLE = 0.05;
const LITTLE_BYTES = 32 << 20;
/** As many deviations (by the median of them) as no rank of a thousand is off by chance. */
const DEVIATIONS = 5;
/** A difference between stages needs so many to compare; two may be as different as they like. */
const FEWEST = 3;
const LINES = 3;

interface Line {
  file: string;
  line: number;
  function: string;
}

/** What some ranks do that their equals do not, and what grows in all of them: one entry a cause, the worst first. */
export function jobDifferences(ranks: readonly RankSummary[]): JobDifference[] {
  const growths = growingLines(ranks);
  const grown = new Map(growths.flatMap(each => each.ranks.map(rank => [rank, each] as const)));
  const peaks = [...stagePeaks(ranks), ...rankPeaks(ranks)].filter(
    // What leaks is higher at its peak too.
    ({ ranks: of, lines: [first] }) => !of.every(rank => sameLine(grown.get(rank)?.lines[0], first)),
  );
  return [...growths, ...peaks, ...foreignMemory(ranks)];
}

const lineKey = ({ file, line, function: name }: Line): string => `${file}\0${line}\0${name}`;
const sameLine = (a: Line | undefined, b: Line | undefined): boolean => !!a && !!b && lineKey(a) === lineKey(b);

/** Ranks that should hold the same: of one place in a pipeline, and of one role. */
function equalsOf(ranks: readonly RankSummary[]): RankSummary[][] {
  return [...groupBy(ranks, ({ role, mesh }) => `${role}\0${mesh.pp?.[0] ?? ''}`).values()];
}

/** Lines that leak in some rank, with all the ranks in which they grow. */
function growingLines(ranks: readonly RankSummary[]): JobDifference[] {
  const found = groupBy(
    ranks.flatMap(({ rank, findings }) =>
      findings.filter(isGrowth).map(finding => ({ rank: rank ?? 0, finding: finding as RankFinding })),
    ),
    ({ finding }) => (finding.line > 0 ? lineKey(finding) : finding.title),
  );
  const causes = [...found.values()].filter(all => all.some(({ finding }) => isLeak({ ...finding, cause: null })));
  return causes
    .map(all => {
      const [{ finding: worst }] = all.sort((a, b) => b.finding.bytesPerStep - a.finding.bytesPerStep) as [
        (typeof all)[number],
      ];
      const of = [...new Set(all.map(({ rank }) => rank))].sort((a, b) => a - b);
      const { file, line, function: name, bytesPerStep: bytes, holder } = worst;
      const who = whoText(of, ranks);
      const others = ranks.length - of.length;
      const where = line > 0 ? t(' at {0}', placeText(worst)) : '';
      const kept = holder === null ? '' : t(', kept by {0}', holder);
      const rest =
        others === 0
          ? ''
          : others === 1
            ? t('; the other one does not')
            : t('; the other {0} do not', formatCount(others));
      const amount = formatBytes(bytes);
      const grows =
        of.length === 1 ? t('{0} grows by {1} a step', who, amount) : t('{0} grow by up to {1} a step', who, amount);
      const lines = line > 0 ? [{ file, line, function: name, bytes }] : [];
      return {
        kind: 'growth' as const,
        who,
        ranks: of,
        bytes,
        lines,
        holder,
        sentence: `${grows}${where}${kept}${rest}.`,
      };
    })
    .sort((a, b) => b.bytes - a.bytes);
}

/** Which of the values lie apart from all the others, by the median and what is usual about it. */
function apart(values: readonly number[]): { index: number; by: number }[] {
  const usual = median(values);
  const limit = Math.max(LITTLE * usual, LITTLE_BYTES, DEVIATIONS * robustDeviation(values));
  return values.flatMap((value, index) => (Math.abs(value - usual) > limit ? [{ index, by: value - usual }] : []));
}

/** Stages whose ranks all peak higher, or lower, than the other stages. */
function stagePeaks(ranks: readonly RankSummary[]): JobDifference[] {
  const stages = equalsOf(ranks.filter(({ mesh }) => mesh.pp !== undefined));
  if (stages.length < FEWEST) return [];
  return apart(stages.map(stage => median(stage.map(({ peakBytes }) => peakBytes)))).flatMap(({ index, by }) => {
    const [own, others] = [stages[index] ?? [], stages.flatMap((stage, i) => (i === index ? [] : stage))];
    return [peakDifference(own, others, by, ranks)];
  });
}

/** Ranks that peak higher, or lower, than those of their stage; what differs by the same lines is one. */
function rankPeaks(ranks: readonly RankSummary[]): JobDifference[] {
  return equalsOf(ranks).flatMap(equals => {
    if (equals.length < FEWEST) return [];
    const off = apart(equals.map(({ peakBytes }) => peakBytes));
    const usual = equals.filter((_, i) => off.every(({ index }) => index !== i));
    const told = off.flatMap(({ index, by }) => {
      const rank = equals[index];
      return rank === undefined ? [] : [{ rank, by, lines: linesOf([rank], usual, by) }];
    });
    const causes = groupBy(told, ({ by, lines: [first] }) => `${Math.sign(by)} ${first ? lineKey(first) : ''}`);
    return [...causes.values()].map(same => {
      const own = same.map(({ rank }) => rank);
      const most = same.reduce((a, b) => (Math.abs(b.by) > Math.abs(a.by) ? b : a));
      return peakDifference(own, usual, most.by, ranks);
    });
  });
}

function peakDifference(
  own: readonly RankSummary[],
  others: readonly RankSummary[],
  by: number,
  all: readonly RankSummary[],
): JobDifference {
  const of = own.map(({ rank }) => rank ?? 0).sort((a, b) => a - b);
  const lines = linesOf(own, others, by);
  const who = whoText(of, all);
  const amount = formatBytes(Math.abs(by));
  const one = of.length === 1;
  const texts = {
    more: one
      ? t('{0} peaks {1} above its equals', who, amount)
      : t('{0} peak up to {1} above their equals', who, amount),
    less: one
      ? t('{0} peaks {1} below its equals', who, amount)
      : t('{0} peak up to {1} below their equals', who, amount),
  };
  const parts = lines.map(line => t('{0} at {1}', formatBytes(Math.abs(line.bytes)), placeText(line)));
  const because = parts.length === 0 ? t(', at no line in particular') : `: ${parts.join(', ')}`;
  const sentence = `${by > 0 ? texts.more : texts.less}${because}.`;
  return { kind: 'peak', who, ranks: of, bytes: by, lines, holder: null, sentence };
}

/** The lines that make most of a difference, by what they have at most. */
function linesOf(own: readonly RankSummary[], others: readonly RankSummary[], by: number): JobDifference['lines'] {
  const [mine, theirs] = [peaksByLine(own), peaksByLine(others)];
  return [...new Map([...mine, ...theirs]).values()]
    .map(({ line }) => {
      const key = lineKey(line);
      const bytes = levelOf(mine.get(key), own.length) - levelOf(theirs.get(key), others.length);
      return { file: line.file, line: line.line, function: line.function, bytes };
    })
    .filter(({ bytes }) => bytes * by > 0 && Math.abs(bytes) >= LITTLE * Math.abs(by))
    .sort((a, b) => Math.abs(b.bytes) - Math.abs(a.bytes))
    .slice(0, LINES);
}

function peaksByLine(ranks: readonly RankSummary[]): Map<string, { line: RankLine; bytes: number[] }> {
  const found = new Map<string, { line: RankLine; bytes: number[] }>();
  for (const { lines } of ranks)
    for (const line of lines) {
      const known = found.get(lineKey(line));
      if (known === undefined) found.set(lineKey(line), { line, bytes: [line.peakBytes] });
      else known.bytes.push(line.peakBytes);
    }
  return found;
}

/** The median over so many ranks; those that do not have the line have nothing there. */
function levelOf(known: { bytes: number[] } | undefined, ranks: number): number {
  const bytes = known?.bytes ?? [];
  return median([...bytes, ...new Array<number>(Math.max(0, ranks - bytes.length)).fill(0)]);
}

/** Memory of GPUs that processes hold which are not of the job. */
function foreignMemory(ranks: readonly RankSummary[]): JobDifference[] {
  const byGpu = groupBy(ranks, ({ host, gpu, device }) => `${host}\0${gpu || device}`);
  const known = ranks.flatMap(rank => {
    const { foreign, outside, reserved } = rank.series;
    const last = foreign.findLastIndex(bytes => bytes !== null);
    if (last < 0) return [];
    const others = (byGpu.get(`${rank.host}\0${rank.gpu || rank.device}`) ?? []).filter(one => one !== rank);
    const ours = sum(others.map(one => newest(one.series.outside) + newest(one.series.reserved)));
    return outside.length > 0 && reserved.length > 0 ? [{ rank, bytes: Math.max(0, (foreign[last] ?? 0) - ours) }] : [];
  });
  if (known.length === 0) return [];
  const off = apart(known.map(({ bytes }) => bytes)).filter(({ by }) => by > 0);
  const found = off.flatMap(({ index }) => known[index] ?? []);
  if (found.length === 0) return [];
  const of = found.map(({ rank }) => rank.rank ?? 0).sort((a, b) => a - b);
  const bytes = Math.max(...found.map(one => one.bytes));
  const who = whoText(of, ranks);
  const sentence = t('{0}: other processes than the job’s hold up to {1} of a GPU.', who, formatBytes(bytes));
  return [{ kind: 'foreign', who, ranks: of, bytes, lines: [], holder: null, sentence }];
}

const newest = (values: readonly (number | null)[]): number => values.findLast(bytes => bytes !== null) ?? 0;
