// Two moments beside each other, line by line or stack by stack.
import { groupBy } from '../../base/maps';
import type { ComparedRow, CompareQuery, Comparison } from '../../protocol/requests/compareRequests';
import { fileLine } from '../../text/format';
import { siteRows, type Frame, type Site, type TraceSource } from '../../protocol/trace';
import { sum } from '../../analysis/series/statistics';

/** What one line or one stack holds at a moment. */
export interface Holding {
  /** Innermost first; one frame where lines are compared, none without Python. */
  frames: readonly Frame[];
  /** Index of the frame that names it; -1: none. */
  named: number;
  bytes: number;
  count: number;
}

const MOST_ROWS = 100_000;
/** Of one function so many lines are tried to be moved. */
const MOST_SHIFTS = 50;
const INSTALLED = [/\/((?:site|dist)-packages\/.*)$/, /\/lib\/(?:python3[^/]*)(\/.*)$/];

/** All that is alive in a trace. */
export function readHoldings(
  source: Pick<TraceSource, 'sites' | 'site'>,
  { by, ...query }: Omit<CompareQuery, 'a' | 'b' | 'rows'>,
): Holding[] {
  const groupBy = by === 'line' ? 'line' : 'site';
  const order = { sort: 'liveBytes', descending: true, from: 0, to: MOST_ROWS } as const;
  const window = source.sites({ ...query, ...order, groupBy });
  return siteRows(window).map(row => {
    const { id, liveBytes: bytes, liveCount: count } = row;
    if (by === 'line') return ofLine(row, bytes, count);
    return ofSite(source.site(id), by, bytes, count);
  });
}

/**
 * All that was alive at the end of a step that the series of sites have, without reading the trace anew: that at `timeNs`, or of each
 * process the newest one (null). Null: there is no such end, or one device alone is meant.
 */
export function holdingsAtStep(
  source: TraceSource,
  { by, layer, process, device }: Omit<CompareQuery, 'a' | 'b' | 'rows'>,
  timeNs: number | null,
  points: number,
): Holding[] | null {
  const own = source.info().steps.filter(one => one.count > 0 && (process < 0 || one.process === process));
  if (own.length === 0 || own.some(one => one.source === 'time') || device >= 0) return null;
  if (own.length > 1 && timeNs !== null) return null;
  const all: Holding[] = [];
  for (const one of own) {
    const series = source.siteSeries({ process: one.process, layer, from: 0, to: MOST_ROWS, points });
    const { id, rows, endNs, liveBytes, liveCount } = series;
    const at = timeNs === null ? endNs.length - 1 : endNs.findIndex(end => Math.round(end) === timeNs);
    if (at < 0) return null;
    for (let row = 0; row < rows; row++) {
      const cell = row * endNs.length + at;
      if (liveCount[cell]! > 0) all.push(ofSite(source.site(id[row]!), by, liveBytes[cell]!, liveCount[cell]!));
    }
  }
  return all;
}

function ofSite(site: Site | null, by: CompareQuery['by'], bytes: number, count: number): Holding {
  const frames = site?.frames ?? [];
  const named = frames.length === 0 ? -1 : Math.max(site?.userFrame ?? 0, 0);
  const frame = frames[named];
  return by === 'line' && frame ? ofLine(frame, bytes, count) : { frames, named, bytes, count };
}

/** What a line holds. */
export function ofLine({ file, line, function: name }: Frame, bytes: number, count: number): Holding {
  const frames = file === '' ? [] : [{ file, line, function: name }];
  return { frames, named: frames.length - 1, bytes, count };
}

/** Where the program of each side worked: its own files are named from there. */
export interface Places {
  cwdA: string;
  cwdB: string;
  /** Both are one run of one program: then a line is the same line, and none has moved. */
  sameRun: boolean;
}

/** A file's name, as the other side may have it too. */
type NameOf = (file: string) => string;

/** The same line, or stack, of both sides; null: one side does not have it. */
export interface Pair {
  a: Holding | null;
  b: Holding | null;
}

/** The biggest differences first, at most `rows` of them. */
export function compareHoldings(
  a: readonly Holding[],
  b: readonly Holding[],
  places: Places,
  rows: number,
): Comparison {
  const { renamed, pairs } = pairLines(a, b, places);
  const compared = pairs.map(rowOf).sort((one, other) => {
    return weight(other) - weight(one) || one.file.localeCompare(other.file) || one.line - other.line;
  });
  return {
    rows: compared.slice(0, rows),
    total: compared.length,
    bytesA: sum(a.map(({ bytes }) => bytes)),
    bytesB: sum(b.map(({ bytes }) => bytes)),
    added: pairs.filter(pair => pair.a === null).length,
    gone: pairs.filter(pair => pair.b === null).length,
    renamed,
  };
}

/** What stands on each side of what, though lines moved, or a script has another name by now. */
export function pairLines(
  a: readonly Holding[],
  b: readonly Holding[],
  places: Places,
): { pairs: Pair[]; renamed: Comparison['renamed'] } {
  const renamed = renamedFile(a, b, places);
  const nameB: NameOf = file => comparable(file, places.cwdB);
  const nameA: NameOf = file => (file === renamed?.from ? nameB(renamed.to) : comparable(file, places.cwdA));
  const left = byKey(a, frame => `${nameA(frame.file)}:${frame.line} ${frame.function}`);
  const right = byKey(b, frame => `${nameB(frame.file)}:${frame.line} ${frame.function}`);
  const keys = new Set([...left.keys(), ...right.keys()]);
  const pairs = places.sameRun
    ? [...keys].map((key): Pair => ({ a: left.get(key) ?? null, b: right.get(key) ?? null }))
    : withMoved([...left.values()], [...right.values()], nameA, nameB);
  return { pairs, renamed };
}

/** The one file of the program that A alone has, and the one that B alone has: the same script under another name. */
function renamedFile(
  a: readonly Holding[],
  b: readonly Holding[],
  { cwdA, cwdB, sameRun }: Places,
): Comparison['renamed'] {
  if (sameRun) return null;
  const [inA, inB] = [ownFiles(a, cwdA), ownFiles(b, cwdB)];
  const [from, ...moreA] = [...inA].filter(([name]) => !inB.has(name));
  const [to, ...moreB] = [...inB].filter(([name]) => !inA.has(name));
  if (from === undefined || to === undefined || moreA.length + moreB.length > 0) return null;
  const [before, after] = [placesIn(a, from[1]), placesIn(b, to[1])];
  const common = [...before].filter(place => after.has(place)).length;
  return 2 * common >= Math.min(before.size, after.size) ? { from: from[1], to: to[1] } : null;
}

/** Lines of a file with their functions. */
function placesIn(holdings: readonly Holding[], path: string): Set<string> {
  const frames = holdings.flatMap(holding => holding.frames).filter(({ file }) => file === path);
  return new Set(frames.map(frame => `${frame.line} ${frame.function}`));
}

/** Name for comparing -> path; of what is not installed. */
function ownFiles(holdings: readonly Holding[], cwd: string): Map<string, string> {
  const files = holdings.flatMap(({ frames }) => frames.map(({ file }) => file));
  return new Map(
    files.filter(file => !INSTALLED.some(each => each.test(file))).map(file => [comparable(file, cwd), file]),
  );
}

/** Holdings of the same text are one. */
function byKey(holdings: readonly Holding[], text: (frame: Frame) => string): Map<string, Holding> {
  const same = groupBy(holdings, holding => holding.frames.map(text).join('\n'));
  const joined = (a: Holding, b: Holding): Holding => ({ ...a, bytes: a.bytes + b.bytes, count: a.count + b.count });
  return new Map([...same].map(([key, group]) => [key, group.reduce(joined)]));
}

/**
 * Lines may have moved: those of the same files and functions are one another in their order, where both sides have as many. Else they
 * are on the lines that most of them share once one side is moved from some line on; what is left is in one side alone.
 */
function withMoved(a: readonly Holding[], b: readonly Holding[], nameA: NameOf, nameB: NameOf): Pair[] {
  const [left, right] = [grouped(a, nameA), grouped(b, nameB)];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap(key => {
    const [ofA, ofB] = [left.get(key) ?? [], right.get(key) ?? []];
    if (ofA.length === ofB.length) return ofA.map((one, i) => ({ a: one, b: ofB[i] ?? null }));
    const shift = bestShift(ofA, ofB);
    const moved = new Map(ofA.map(one => [linesOf(one, shift), one]));
    const pairs = ofB.map((one): Pair => ({ a: moved.get(linesOf(one)) ?? null, b: one }));
    const known = new Set(pairs.map(pair => pair.a));
    return [...pairs, ...ofA.filter(one => !known.has(one)).map((one): Pair => ({ a: one, b: null }))];
  });
}

/** What was written above some line moves it and those below, and no other. */
interface Shift {
  from: number;
  by: number;
}
const STAYS: Shift = { from: 0, by: 0 };

const linesOf = ({ frames }: Holding, { from, by } = STAYS): string =>
  frames.map(({ line }) => (line < from ? line : line + by)).join();

/** With it most of `a` come to lie on those of `b`: of equal ones the smallest. One line alone is no evidence of a move. */
function bestShift(a: readonly Holding[], b: readonly Holding[]): Shift {
  const there = new Set(b.map(one => linesOf(one)));
  const first = ({ frames }: Holding): number => frames[0]?.line ?? 0;
  const tried = a.slice(0, MOST_SHIFTS);
  const shifts = tried.flatMap(one => b.map(other => ({ from: first(one), by: first(other) - first(one) })));
  const common = (all: readonly Holding[], shift: Shift): number =>
    new Set(all.map(one => linesOf(one, shift)).filter(lines => there.has(lines))).size;
  const ranked = [STAYS, ...shifts].map(shift => ({ shift, common: common(a, shift) }));
  ranked.sort((one, other) => other.common - one.common || Math.abs(one.shift.by) - Math.abs(other.shift.by));
  const best = ranked[0]?.shift ?? STAYS;
  const moved = a.filter(one => first(one) >= best.from);
  return common(moved, best) > 1 ? best : STAYS;
}

function grouped(holdings: readonly Holding[], nameOf: NameOf): Map<string, Holding[]> {
  const groups = groupBy(holdings, ({ frames }) =>
    frames.map(frame => `${nameOf(frame.file)} ${frame.function}`).join('\n'),
  );
  for (const group of groups.values()) group.sort(byLines);
  return groups;
}

function byLines(one: Holding, other: Holding): number {
  for (const [i, frame] of one.frames.entries()) {
    const difference = frame.line - (other.frames[i]?.line ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A file's name as another run of the same program has it, from another folder or another environment. */
export function comparable(file: string, cwd: string): string {
  for (const place of INSTALLED) {
    const name = place.exec(file)?.[1];
    if (name !== undefined) return name;
  }
  const folder = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return file.startsWith(folder) ? file.slice(folder.length) : file;
}

function rowOf({ a, b }: Pair): ComparedRow {
  const shown = b ?? a;
  const frame = shown?.frames[shown.named];
  const before = a?.frames[a.named];
  const nameOf = ({ file, line, function: name }: Frame): string => `${fileLine(file, line)} ${name}`;
  const moved = frame !== undefined && before !== undefined && frame.line !== before.line;
  return {
    file: frame?.file ?? '',
    line: frame?.line ?? 0,
    function: frame?.function ?? '',
    movedFrom: moved ? before.line : null,
    stack: (shown?.frames.length ?? 0) > 1 ? (shown?.frames ?? []).map(nameOf) : [],
    bytesA: a?.bytes ?? 0,
    bytesB: b?.bytes ?? 0,
    countA: a?.count ?? 0,
    countB: b?.count ?? 0,
  };
}

function weight({ bytesA, bytesB }: ComparedRow): number {
  return Math.abs(bytesB - bytesA);
}
