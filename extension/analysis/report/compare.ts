// Two moments beside each other, line by line or stack by stack.
import { groupBy } from '../groups';
import type { ComparedRow, CompareQuery, Comparison } from '../../protocol/requests/compareRequests';
import { fileLine } from '../../protocol/format';
import { siteRows, type Frame, type TraceSource } from '../../protocol/trace';
import { sum } from '../series/statistics';

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
const INSTALLED = [/\/((?:site|dist)-packages\/.*)$/, /\/lib\/(?:python3[^/]*)(\/.*)$/];

/** All that is alive in a trace. */
export function readHoldings(source: TraceSource, { by, ...query }: Omit<CompareQuery, 'a' | 'b' | 'rows'>): Holding[] {
  const groupBy = by === 'line' ? 'line' : 'site';
  const order = { sort: 'liveBytes', descending: true, from: 0, to: MOST_ROWS } as const;
  const window = source.sites({ ...query, ...order, groupBy });
  return siteRows(window).map(({ id, file, line, function: name, liveBytes: bytes, liveCount: count }) => {
    if (by === 'line') return { ...lineOf({ file, line, function: name }), bytes, count };
    const site = source.site(id);
    const frames = site?.frames ?? [];
    return { frames, named: frames.length === 0 ? -1 : Math.max(site?.userFrame ?? 0, 0), bytes, count };
  });
}

function lineOf(frame: Frame): Pick<Holding, 'frames' | 'named'> {
  return frame.file === '' ? { frames: [], named: -1 } : { frames: [frame], named: 0 };
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

interface Pair {
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
  const renamed = renamedFile(a, b, places);
  const nameB: NameOf = file => comparable(file, places.cwdB);
  const nameA: NameOf = file => (file === renamed?.from ? nameB(renamed.to) : comparable(file, places.cwdA));
  const left = byKey(a, frame => `${nameA(frame.file)}:${frame.line} ${frame.function}`);
  const right = byKey(b, frame => `${nameB(frame.file)}:${frame.line} ${frame.function}`);
  const keys = new Set([...left.keys(), ...right.keys()]);
  const exact = [...keys].map((key): Pair => ({ a: left.get(key) ?? null, b: right.get(key) ?? null }));
  const pairs = places.sameRun ? exact : withMoved(exact, nameA, nameB);
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
 * What is in one side alone is the same code on other lines where files and functions agree, and as many of them are left
 * over on both sides: they are paired in the order of their lines.
 */
function withMoved(pairs: readonly Pair[], nameA: NameOf, nameB: NameOf): Pair[] {
  const result = pairs.filter(({ a, b }) => a !== null && b !== null);
  const gone = pairs.flatMap(({ a, b }) => (a !== null && b === null ? [a] : []));
  const added = pairs.flatMap(({ a, b }) => (b !== null && a === null ? [b] : []));
  const [left, right] = [grouped(gone, nameA), grouped(added, nameB)];
  for (const [key, ofA] of left) {
    const ofB = right.get(key) ?? [];
    const same = ofA.length === ofB.length;
    ofA.forEach((a, i) => result.push({ a, b: same ? (ofB[i] ?? null) : null }));
    if (same) right.delete(key);
  }
  for (const ofB of right.values()) for (const b of ofB) result.push({ a: null, b });
  return result;
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
