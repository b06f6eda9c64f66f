import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../text/format';
import type { JobDifference, RankFinding, RankLine, RankSummary } from '../../protocol/job';
import { GROWING, isGrowth, isLeak } from '../../protocol/verdicts';
import { groupBy } from '../../base/maps';
import { median, robustDeviation, sum } from '../series/statistics';
import { placeText } from '../words';
import { numbersOf, groupText } from './rankNames';

/** Of two ranks that do the same, one may hold so much more: sizes of batches and of what is padded differ a little. */
const LITTLE = 0.05;
const LITTLE_BYTES = 32 << 20;
/** As many deviations (by the median of them) as no rank of a thousand is off by chance. */
const DEVIATIONS = 5;
/** So few show little of what is usual: the fewer there are, the further apart one has to be. */
const FEW = 4;
const LINES = 3;

type Line = Pick<RankLine, 'file' | 'line' | 'function'>;
/** What each line has at most in some ranks. */
interface Levels {
  ranks: number;
  lines: Map<string, { line: Line; bytes: number[] }>;
}
/** A rank that is apart from its equals, with the lines that explain it. */
interface Odd {
  rank: RankSummary;
  by: number;
  lines: JobDifference['lines'];
}

/** What some ranks do that their equals do not, and what grows in all of them: one entry a cause, the worst first. */
export function jobDifferences(ranks: readonly RankSummary[]): JobDifference[] {
  const growths = growingLines(ranks);
  const grown = grownLines(ranks, growths);
  const stages = stagePeaks(ranks, grown);
  const alone = rankPeaks(ranks, grown).filter(({ who }) => !stages.some(stage => stage.who === who));
  return [...growths, ...stages, ...alone, ...foreignMemory(ranks)];
}

const lineKey = ({ file, line, function: name }: Line): string => `${file}\0${line}\0${name}`;

/** Lines that leak in some rank, with all the ranks in which they grow. */
function growingLines(ranks: readonly RankSummary[]): JobDifference[] {
  const found = groupBy(
    ranks.flatMap(rank =>
      rank.findings.filter(one => isGrowth(one) || isLeak(one)).map(finding => ({ rank, finding })),
    ),
    ({ finding }) => (finding.line > 0 ? lineKey(finding) : finding.title),
  );
  return [...found.values()]
    .filter(all => all.some(({ finding }) => isLeak(finding)))
    .map(all => {
      const worst = all.reduce((a, b) => (b.finding.bytesPerStep > a.finding.bytesPerStep ? b : a)).finding;
      const holder = worst.holder ?? all.find(({ finding }) => finding.holder !== null)?.finding.holder ?? null;
      return growth({ ...worst, holder }, numbersOf(all.map(({ rank }) => rank)), ranks);
    })
    .sort((a, b) => b.bytes - a.bytes);
}

/** Of a summary that others may have written. */
const isPlace = (change: RankFinding['change']): change is { file: string; line: number } =>
  typeof change?.file === 'string' && Number.isInteger(change.line);

function growth(worst: RankFinding, of: number[], ranks: readonly RankSummary[]): JobDifference {
  const { file, line, function: name, bytesPerStep: bytes, holder } = worst;
  const who = groupText(of, ranks);
  const others = ranks.length - of.length;
  const where = line > 0 ? t(' at {0}', placeText(worst)) : '';
  const kept = holder === null ? '' : t(', held by {0}', holder);
  const rest = others === 1 ? t('; the other rank does not') : t('; the other {0} ranks do not', formatCount(others));
  const amount = formatBytes(bytes);
  const grows =
    of.length === 1 ? t('{0} grows by {1} per step', who, amount) : t('{0} grow by up to {1} per step', who, amount);
  const lines = line > 0 ? [{ file, line, function: name, bytes }] : [];
  const sentence = `${grows}${where}${kept}${others === 0 ? '' : rest}.`;
  const { change, suggestion } = worst;
  const first = isPlace(change)
    ? t('Change {0}: ', `${change.file.slice(change.file.lastIndexOf('/') + 1)}:${change.line}`)
    : '';
  const advice = suggestion || first ? `${first}${suggestion ?? ''}`.trim() : null;
  return { kind: 'growth', who, ranks: of, bytes, lines, holder, advice, sentence: capital(sentence) };
}

/** The lines that grow in ranks that leak. Their bytes count as that, and no rank peaks higher for them. */
function grownLines(ranks: readonly RankSummary[], growths: readonly JobDifference[]): ReadonlySet<string> {
  const leaking = new Set(growths.flatMap(({ ranks: of }) => of));
  const lines = ranks.filter(({ rank }) => leaking.has(rank ?? 0)).flatMap(rank => rank.lines);
  return new Set(lines.filter(({ state }) => GROWING.some(one => one === state)).map(lineKey));
}

/** Which of the values lie apart from all the others: from the median, by what is usual about it, and from the nearest of the rest. Of two, the higher. */
function apart(values: readonly number[], little = LITTLE_BYTES): { index: number; by: number }[] {
  const [first = 0, second = 0] = values;
  if (values.length === 2) {
    const by = Math.abs(second - first);
    return by > (1 + FEW / 2) * little ? [{ index: second > first ? 1 : 0, by }] : [];
  }
  const usual = median(values);
  const limit = (1 + FEW / values.length) * Math.max(little, DEVIATIONS * robustDeviation(values));
  const isUsual = (value: number): boolean => Math.abs(value - usual) <= limit;
  const [least, most] = range(values.filter(isUsual));
  const gap = (most - least) / 2;
  return values.flatMap((value, index) =>
    isUsual(value) || (value - most <= gap && least - value <= gap) ? [] : [{ index, by: value - usual }],
  );
}

const range = (values: readonly number[]): [least: number, most: number] =>
  values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);

/** A peak without the lines that grow, which may have had their most at another moment: only its distance to others counts. */
function steadyPeak({ peakBytes, lines }: RankSummary, grown: ReadonlySet<string>): number {
  return peakBytes - sum(lines.filter(line => grown.has(lineKey(line))).map(line => line.peakBytes));
}

const littleOf = (ranks: readonly RankSummary[]): number =>
  Math.max(LITTLE_BYTES, LITTLE * median(ranks.map(({ peakBytes }) => peakBytes)));

/** Stages whose ranks peak higher, or lower, than the other stages of their role. */
function stagePeaks(ranks: readonly RankSummary[], grown: ReadonlySet<string>): JobDifference[] {
  const staged = ranks.filter(({ mesh }) => mesh.pp !== undefined);
  return [...groupBy(staged, ({ role }) => role).values()].flatMap(all => {
    const stages = [...groupBy(all, ({ mesh }) => mesh.pp?.[0]).values()];
    const little = littleOf(all);
    const peaks = stages.map(stage => median(stage.map(rank => steadyPeak(rank, grown))));
    return apart(peaks, little).map(({ index, by }) => {
      const more = (rank: RankSummary): number => steadyPeak(rank, grown) - (peaks[index] ?? 0) + by;
      const own = (stages[index] ?? []).filter(rank => more(rank) * Math.sign(by) > little);
      const others = stages.flatMap((stage, i) => (i === index ? [] : stage));
      const most = median(own.map(more));
      return peakDifference(own, most, explain(levelsOf(own, grown), levelsOf(others, grown), most), ranks, grown);
    });
  });
}

/** Ranks that peak higher, or lower, than those of their stage and role; what differs by the same lines is one. */
function rankPeaks(ranks: readonly RankSummary[], grown: ReadonlySet<string>): JobDifference[] {
  const causes: Odd[][] = [];
  for (const equals of groupBy(ranks, ({ role, mesh }) => `${role}\0${mesh.pp?.[0] ?? ''}`).values())
    for (const odd of oddRanks(equals, grown)) {
      const same = causes.find(([first]) => first !== undefined && isSame(first, odd));
      if (same === undefined) causes.push([odd]);
      else same.push(odd);
    }
  return causes.map(same => {
    const { by, lines } = same.reduce((a, b) => (Math.abs(b.by) > Math.abs(a.by) ? b : a));
    const own = same.map(({ rank }) => rank);
    return peakDifference(own, by, lines, ranks, grown);
  });
}

function oddRanks(equals: readonly RankSummary[], grown: ReadonlySet<string>): Odd[] {
  const off = new Map(
    apart(
      equals.map(rank => steadyPeak(rank, grown)),
      littleOf(equals),
    ).map(({ index, by }) => [equals[index], by]),
  );
  if (off.size === 0) return [];
  const usual = levelsOf(
    equals.filter(rank => !off.has(rank)),
    grown,
  );
  return [...off].flatMap(([rank, by]) =>
    rank === undefined ? [] : [{ rank, by, lines: explain(levelsOf([rank], grown), usual, by) }],
  );
}

const isSame = (a: Odd, b: Odd): boolean =>
  Math.sign(a.by) === Math.sign(b.by) &&
  (a.lines.length + b.lines.length === 0 || a.lines.some(one => b.lines.some(two => lineKey(one) === lineKey(two))));

function peakDifference(
  own: readonly RankSummary[],
  by: number,
  lines: JobDifference['lines'],
  all: readonly RankSummary[],
  grown: ReadonlySet<string>,
): JobDifference {
  const of = numbersOf(own);
  const who = groupText(of, all);
  const amount = formatBytes(Math.abs(by));
  const one = of.length === 1;
  const rest = all.filter(({ rank }) => !of.includes(rank ?? 0));
  const [mine, theirs] = [own, rest].map(ranks => median(ranks.map(({ peakBytes }) => peakBytes)));
  const grows = grown.size > 0 && Math.abs((mine ?? 0) - (theirs ?? 0) - by) > Math.abs(by) / 2;
  const others = `${rest.length === 1 ? t('the other rank') : t('the other ranks')}${grows ? t(', not counting growth') : ''}`;
  const texts = {
    more: one
      ? t('{0} peaks {1} above {2}', who, amount, others)
      : t('{0} have peaks up to {1} higher than {2}', who, amount, others),
    less: one
      ? t('{0} peaks {1} below {2}', who, amount, others)
      : t('{0} have peaks up to {1} lower than {2}', who, amount, others),
  };
  const parts = lines.map(line => t('{0} ({1})', placeText(line), formatBytes(Math.abs(line.bytes))));
  const because = parts.length === 0 ? t(', on no single line') : t(', mostly at {0}', parts.join(', '));
  const sentence = `${by > 0 ? texts.more : texts.less}${because}.`;
  return { kind: 'peak', who, ranks: of, bytes: by, lines, holder: null, advice: null, sentence: capital(sentence) };
}

/** The lines that make most of a difference, by what they have at most. */
function explain(mine: Levels, theirs: Levels, by: number): JobDifference['lines'] {
  return [...new Map([...mine.lines, ...theirs.lines])]
    .map(([key, { line }]) => {
      const bytes = levelIn(mine, key) - levelIn(theirs, key);
      return { file: line.file, line: line.line, function: line.function, bytes };
    })
    .filter(({ bytes }) => bytes * by > 0 && Math.abs(bytes) >= LITTLE * Math.abs(by))
    .sort((a, b) => Math.abs(b.bytes) - Math.abs(a.bytes))
    .slice(0, LINES);
}

function levelsOf(ranks: readonly RankSummary[], grown: ReadonlySet<string>): Levels {
  const lines: Levels['lines'] = new Map();
  for (const rank of ranks)
    for (const line of rank.lines) {
      const key = lineKey(line);
      const known = lines.get(key);
      if (known !== undefined) known.bytes.push(line.peakBytes);
      else if (!grown.has(key)) lines.set(key, { line, bytes: [line.peakBytes] });
    }
  return { ranks: ranks.length, lines };
}

/** The median over the ranks; those that do not have the line have nothing there. */
function levelIn({ ranks, lines }: Levels, key: string): number {
  const bytes = lines.get(key)?.bytes ?? [];
  return median([...bytes, ...new Array<number>(Math.max(0, ranks - bytes.length)).fill(0)]);
}

/** Memory of GPUs that processes hold which are not of the job: more than on its other GPUs, or much. */
function foreignMemory(ranks: readonly RankSummary[]): JobDifference[] {
  const gpuOf = ({ host, gpu, device }: RankSummary): string => `${host}\0${gpu || device}`;
  const byGpu = groupBy(ranks, gpuOf);
  const known = ranks.flatMap(rank => {
    const foreign = rank.series.foreign.findLast(bytes => bytes !== null) ?? null;
    const others = (byGpu.get(gpuOf(rank)) ?? []).filter(one => one !== rank);
    const ours = sum(others.map(one => newest(one.series.outside) + newest(one.series.reserved)));
    return foreign === null ? [] : [{ rank, bytes: Math.max(0, foreign - ours) }];
  });
  const more = new Set(apart(known.map(({ bytes }) => bytes)).flatMap(({ index, by }) => (by > 0 ? index : [])));
  const found = known.filter(({ rank, bytes }, i) => more.has(i) || bytes > LITTLE * (rank.totalBytes ?? Infinity));
  if (found.length === 0) return [];
  const of = numbersOf(found.map(({ rank }) => rank));
  const bytes = Math.max(...found.map(one => one.bytes));
  const who = groupText(of, ranks, 'host');
  const sentence = t('{0}: processes outside the job use up to {1} of a GPU.', who, formatBytes(bytes));
  return [
    { kind: 'foreign', who, ranks: of, bytes, lines: [], holder: null, advice: null, sentence: capital(sentence) },
  ];
}

const newest = (values: readonly (number | null)[]): number => values.findLast(bytes => bytes !== null) ?? 0;

/** A sentence begins with the ranks that it is about. */
const capital = (sentence: string): string => sentence.charAt(0).toUpperCase() + sentence.slice(1);
