import { t } from '@vscode/l10n';
import { formatCount } from '../../../text/format';
import type { Answer, BlockFacts, TraceSource } from '../../../protocol/trace';
import type { HolderFound, HolderLink } from '../../../protocol/requests/verdictRequests';
import type { FindingHolder, Fix } from '../../../protocol/verdicts';
import { fieldsIn, isFields, parseFields, type Fields } from '../../../base/fields';
import { remembered } from '../../../base/maps';
import { sum } from '../../series/statistics';
import { THRESHOLDS as T } from '../../series/thresholds';
import { blocksText } from '../../words';
import { readLimit } from './holderLimits';
import { withoutNewestOnly } from './newestOnly';

// The holders of blocks that the agent found, joined to the sites that allocated the blocks.

/** Kinds that mean that the agent found no holder: C++ or another process may hold a block, or time ran out. */
export const NO_HOLDER: ReadonlySet<string> = new Set(['none', 'unknown']);
/** A holder's path, of what keeps a graph too. */
const plainPath = ({ path }: HolderFound): string => path.replace(/ \(its graph\)$/, '');

/** One holder and the blocks that hang on it. */
export interface HeldBlocks {
  holder: FindingHolder;
  /** From the root to the block. */
  chain: HolderLink[];
  /** Blocks by site: how many, and how many bytes. */
  sites: Map<number, { count: number; bytes: number }>;
  /** When the blocks that the answer names were allocated. */
  timesNs: number[];
  /** Others that have some of these blocks too, most first. */
  also?: HeldBlocks[];
}
export interface HolderAnswer {
  process: number;
  timeNs: number;
  /** Why the agent searched: by a question, at a step that was due, at the end of the program. */
  when: 'asked' | 'step' | 'exit';
  /** The step that it was due at. */
  step: number;
  held: HeldBlocks[];
  /** Sites of all blocks that Python has, by an answer that names them all; null: this one does not. */
  sites: ReadonlySet<number> | null;
  /** The search was cut short after so many ms; null: it was not. */
  cutAfterMs: number | null;
  /** How long the program stood still for it; null: unknown. */
  pauseMs: number | null;
}

/** Reads the answers of a trace, the newest first; what is no answer about holders is passed over. */
export function readHolders(source: TraceSource): HolderAnswer[] {
  const answers: HolderAnswer[] = [];
  for (const info of source.info().answers.toSorted((a, b) => b.timeNs - a.timeNs)) {
    if (!info.complete) continue;
    const answer = source.answer({ process: info.process, index: info.index });
    if (answer === null) continue;
    const document = parseFields(answer.text) ?? {};
    const held = heldBy(document, answer.blocks);
    const sites = namesAll(document) ? new Set(answer.blocks.map(block => block.site)) : null;
    const cutAfterMs = document.ok === true && document.cut === true ? positive(document.tookMs) : null;
    if (held.length === 0 && sites === null && cutAfterMs === null) continue;
    const { process, timeNs } = info;
    const pauseMs = positive(document.tookMs);
    answers.push({ process, timeNs, ...occasionOf(document), held, sites, cutAfterMs, pauseMs });
  }
  return answers;
}

/** When the program stood still for the recorded searches: begin and end (ns of the session), rising; not of those at its end. */
export function searchPauses(source: TraceSource): [fromNs: number, toNs: number][] {
  const pauses = source.info().answers.flatMap(({ process, index, timeNs, complete }): [number, number][] => {
    const answer = complete ? source.answer({ process, index }) : null;
    const document = answer === null ? {} : (parseFields(answer.text) ?? {});
    const tookMs = positive(document.tookMs);
    return tookMs === null || occasionOf(document).when === 'exit' ? [] : [[timeNs, timeNs + tookMs * 1e6]];
  });
  return pauses.sort((a, b) => a[0] - b[0]);
}

/** A holder as an answer names it, with the addresses that it holds. */
export interface HolderEntry {
  holder: FindingHolder;
  /** From the root to the block. */
  chain: HolderLink[];
  addresses: bigint[];
  /** Blocks that it stands for: a survey names a few of a group and counts all. */
  count: number;
  /** Of all of them; null: not in the answer. */
  bytes: number | null;
  /** Of tensors in pinned memory: what PyTorch's cache takes for them; null: they lie on a GPU. */
  rounded: number | null;
  /** Others that have some of these blocks too. */
  also: HolderEntry[];
}

/** The holders in an answer's JSON, groups first; empty where it is none, or damaged. */
export function holderEntries(text: string): HolderEntry[] {
  return entriesOf(parseFields(text) ?? {});
}

function entriesOf(document: Fields): HolderEntry[] {
  return [...fieldsIn(document.groups), ...fieldsIn(document.holders)]
    .filter(entry => entry.path !== undefined || entry.kind !== undefined)
    .map(readEntry);
}

function readEntry(entry: Fields): HolderEntry {
  return {
    holder: readHolder(entry),
    chain: readChain(entry.chain),
    addresses: addressesOf(entry),
    count: positive(entry.count) ?? 0,
    bytes: positive(entry.bytes),
    rounded: positive(entry.rounded),
    also: fieldsIn(entry.also).map(readEntry),
  };
}

/** The holders in an answer's document with their blocks by site; empty where it is none, or damaged. */
export function heldBy(document: Fields, blocks: readonly BlockFacts[]): HeldBlocks[] {
  // A block is counted once, at the first holder that names it: groups come first.
  return joined(entriesOf(document), new Map(blocks.filter(({ known }) => known).map(block => [block.address, block])));
}

/** Entries of one path at one line are one holder; each takes its blocks out of `facts`. */
function joined(all: readonly HolderEntry[], facts: Map<bigint, BlockFacts>): HeldBlocks[] {
  const byPlace = new Map<string, HeldBlocks>();
  for (const { holder, chain, addresses, count: of, bytes, also } of all) {
    const key = `${holder.path}\0${holder.file}\0${holder.line}`;
    const held = remembered(byPlace, key, () => ({ holder, chain, sites: new Map(), timesNs: [], also: [] }));
    held.also?.push(...also.flatMap(other => joined([other], new Map(facts))));
    const weight = Math.max(1, of / Math.max(1, addresses.length));
    const named = sum(addresses.map(address => facts.get(address)?.bytes ?? 0));
    const bytesWeight = bytes !== null && of > addresses.length && named > 0 ? Math.max(1, bytes / named) : weight;
    for (const address of addresses) {
      const block = facts.get(address);
      if (block !== undefined) count(held, block, weight, bytesWeight * block.bytes);
      facts.delete(address);
    }
  }
  return [...byPlace.values()].filter(held => held.sites.size > 0);
}

function count(held: HeldBlocks, { site, timeNs }: BlockFacts, blocks: number, bytes: number): void {
  held.timesNs.push(timeNs);
  const before = held.sites.get(site);
  held.sites.set(site, { count: (before?.count ?? 0) + blocks, bytes: (before?.bytes ?? 0) + bytes });
}

function readChain(value: unknown): HolderLink[] {
  const links: unknown[] = Array.isArray(value) ? value : [];
  return links.flatMap(link => {
    if (typeof link === 'string') return [{ kind: '', name: link, type: '', length: null }];
    if (!isFields(link)) return [];
    return [{ kind: word(link.kind), name: word(link.name), type: word(link.type), length: positive(link.length) }];
  });
}

function namesAll({ ok, cut, more }: Fields): boolean {
  return ok === true && cut === false && Array.isArray(more);
}

function occasionOf({ when, step }: Fields): Pick<HolderAnswer, 'when' | 'step'> {
  return { when: when === 'step' || when === 'exit' ? when : 'asked', step: positive(step) ?? 0 };
}

function readHolder(entry: Fields): FindingHolder {
  return {
    path: word(entry.path),
    kind: word(entry.kind) || 'unknown',
    file: word(entry.file) || null,
    line: positive(entry.line),
    function: word(entry.function) || null,
    length: positive(entry.length),
    bound: positive(entry.bound),
    ...(word(entry.container) && { container: word(entry.container) }),
    ...(typeof entry.graph === 'boolean' && { graph: entry.graph }),
    ...(typeof entry.one === 'boolean' && { one: entry.one }),
    ...(entry.metric === true && { metric: true }),
    ...(word(entry.toHost) && { toHost: word(entry.toHost) }),
    ...readLimit(entry),
    ...readFix(entry.fix),
  };
}

/** Empty where the entry is none, or damaged. */
function readFix(value: unknown): { fix?: Fix } {
  if (!isFields(value)) return {};
  const [line, column, endLine, endColumn] = ['line', 'column', 'endLine', 'endColumn'].map(name =>
    positive(value[name]),
  );
  if (!line || !column || !endLine || !endColumn) return {};
  const [before, after, adds, statement] = ['before', 'after', 'adds', 'statement'].map(name => value[name]);
  if (typeof before !== 'string' || typeof after !== 'string') return {};
  if (typeof adds !== 'string' || typeof statement !== 'string') return {};
  return { fix: { line, column, endLine, endColumn, before, after, adds, statement } };
}

const word = (value: unknown): string => (typeof value === 'string' ? value : '');

function positive(value: unknown): number | null {
  return typeof value === 'number' && value > 0 ? value : null;
}

function addressesOf(entry: Fields): bigint[] {
  const all: unknown[] = Array.isArray(entry.addresses) ? entry.addresses : [entry.address];
  return all.flatMap(value => {
    const text = typeof value === 'number' ? String(value) : value;
    return typeof text === 'string' && /^(0x[0-9a-f]+|\d+)$/i.test(text) ? [BigInt(text)] : [];
  });
}

/**
 * Where most of the blocks of these sites hang, by the answer that names most of them: at least `share` of those, and at least `least`
 * blocks. What was seen while the program ran comes first: at its end the variables of functions are gone. What holds the little that is left
 * then of `grown` blocks did not hold the others.
 */
export function holderOf(
  answers: readonly HolderAnswer[],
  process: number,
  sites: readonly number[],
  share: number,
  least: number,
  grown = 0,
): FindingHolder | null {
  const relevant = answers.filter(
    ({ when, held }) => when !== 'exit' || blocksOf(holdersIn(held, sites)) >= T.part * grown,
  );
  const running = answers.filter(({ when }) => when !== 'exit');
  const early = mostHeld(running, process, sites, share, Math.max(least, T.few));
  const found = early ?? mostHeld(relevant, process, sites, share, least);
  if (found === null) return null;
  // At the end everything that refers to itself is a cycle, whatever held it before; where the program was queried before, that answer has to show it.
  const wasQueried = running.some(answer => answer.process === process);
  const isCycle = found.most.kind === 'cycle' && early === null;
  if (isCycle && wasQueried && !holderKinds(running, process, sites).includes('none')) return null;
  const holder = { ...holderAlone(found.most), ...shareOf(found), ...(leavesOthers(found) && { fix: undefined }) };
  const { when, timeNs, pauseMs } = found.answer;
  return when === 'exit' || !pauseMs ? holder : { ...holder, asked: { timeNs, pauseMs } };
}

/** How many of the blocks it has, in whatever part of its entries, or in graphs that hang on them; empty: nearly all. */
function shareOf({ most, of, others }: MostHeld): Pick<FindingHolder, 'share'> {
  const nameOf = (holder: HolderFound): string => holder.container ?? plainPath(holder);
  const rest = others.filter(other => nameOf(other) !== nameOf(most) || other.line !== most.line);
  const blocks = most.count + blocksOf(others) - blocksOf(rest);
  if (of - blocks <= T.little * of) return {};
  const named = rest
    .filter(({ count }) => count > T.little * of)
    .slice(0, T.few)
    .map(({ path, file, line, count }) => ({ path, file, line, blocks: count }));
  return { share: { blocks, of, others: rest.length, named } };
}

/** A fix of the one leaves what others have, also another part of the same entries; not what the same statement mends. */
function leavesOthers({ most, of, others }: MostHeld): boolean {
  const left = others.filter(({ count, fix }) => count > T.little * of && fix?.statement !== most.fix?.statement);
  return left.some(other => plainPath(other) !== plainPath(most));
}

const holderAlone = ({ chain: _chain, count: _count, bytes: _bytes, ...holder }: HolderFound): FindingHolder => holder;

type MostHeld = NonNullable<ReturnType<typeof mostHeld>>;

/** The holder of most blocks by the answer that names most; null: there is none, or it has too few of them. */
function mostHeld(
  answers: readonly HolderAnswer[],
  process: number,
  sites: readonly number[],
  share: number,
  least: number,
) {
  const named = mostNamed(answers, process, sites);
  if (named === null) return null;
  const found = named.holders
    .filter(({ kind }) => !NO_HOLDER.has(kind))
    .sort((one, other) => other.count - one.count || other.bytes - one.bytes);
  const keeping = withoutNewestOnly(named.answer.held, sites).map(({ chain }) => chain);
  const most = found.find(({ chain }) => keeping.includes(chain));
  const of = blocksOf(named.holders);
  if (most === undefined || most.count < Math.max(1, least, share * of)) return null;
  return { answer: named.answer, most, of, others: found.filter(other => other !== most) };
}

/** The holder of blocks that live to the end, where the search at the end saw all that Python has and none of them. */
export const NO_OWNER: FindingHolder = {
  path: t('no Python owner'),
  kind: 'none',
  file: null,
  line: null,
  function: null,
  length: null,
  bound: null,
};

/** The kinds of holders in the answer that names most blocks of these sites; also those that mean that none was found. */
export function holderKinds(answers: readonly HolderAnswer[], process: number, sites: readonly number[]): string[] {
  return (mostNamed(answers, process, sites)?.holders ?? []).map(({ kind }) => kind);
}

/** Whether the search at the process's end saw all that Python has, and nothing of these sites. */
export function hasNoHolder(answers: readonly HolderAnswer[], process: number, sites: readonly number[]): boolean {
  const last = answers.find(answer => answer.process === process && answer.when === 'exit');
  const seen = last?.sites ?? null;
  return seen !== null && !sites.some(site => seen.has(site));
}

/** After how many ms the newest search without a question was cut short; null: it was not, or there was none. */
export function cutShort(answers: readonly HolderAnswer[], process: number): number | null {
  return answers.find(answer => answer.process === process && answer.when !== 'asked')?.cutAfterMs ?? null;
}

/** The holders of blocks of these sites by one answer, most bytes first; also its entries for no holder. */
export function holdersIn(held: readonly HeldBlocks[], sites: readonly number[]): HolderFound[] {
  const of = sum(held.map(entry => sumOf(entry, sites).count));
  return held
    .map(entry => ({ ...entry.holder, ...alsoIn(entry, sites, of), chain: entry.chain, ...sumOf(entry, sites) }))
    .filter(entry => entry.count > 0)
    .sort((a, b) => b.bytes - a.bytes);
}

/** The answer to a question for holders of `queried` blocks, of so many that are alive; or one sentence on why it holds none. */
export function readHolderAnswer(
  { text, blocks }: Pick<Answer, 'text' | 'blocks'>,
  sites: readonly number[],
  { queried, alive }: { queried: number; alive: number },
): { holders: HolderFound[]; sentence: string } | { sentence: string } {
  const document = parseFields(text);
  if (document === null) return { sentence: t('The program’s answer is damaged.') };
  if (document.ok !== true) return { sentence: t('The program reported an error: {0}', String(document.error)) };
  const holders = holdersIn(heldBy(document, blocks), sites);
  if (holders.length === 0) return { sentence: t('All of these blocks were freed before the search ran.') };
  const found = blocksOf(holders);
  const took = positive(document.tookMs);
  const [some, still] = [formatCount(queried), formatCount(found)];
  const sample = t('Checked a sample of {0} of {1} blocks; {2} are still alive', some, formatCount(alive), still);
  const parts = [queried < alive ? sample : t('Checked {0}; still alive: {1}', blocksText(queried), still)];
  if (queried < alive) parts.push(t('the sizes are those of the sample'));
  if (took !== null) parts.push(t('the program was paused for {0} ms', Math.ceil(took)));
  if (document.cut === true) parts.push(t('the search was cut short'));
  return { holders, sentence: `${parts.join('; ')}.` };
}

/** How long the program stood still for an answer (ms; null: not in the answer, or there is none), and whether time ran out, or a backward pass hid all. */
export function timeOf(result: { answer: Pick<Answer, 'text'> } | object): { pauseMs: number | null; cut: boolean } {
  const document = 'answer' in result ? parseFields(result.answer.text) : null;
  const held = fieldsIn(document?.holders);
  const unseen = held.length > 0 && held.every(({ kind }) => kind === 'unknown');
  return { pauseMs: positive(document?.tookMs), cut: document?.cut === true || unseen };
}

/** The recorded answer that names most blocks of these sites; null: none names any. */
export function recordedHolders(source: TraceSource, process: number, sites: readonly number[]): NamedHolders | null {
  return mostNamed(readHolders(source), process, sites);
}

export interface NamedHolders {
  answer: HolderAnswer;
  holders: HolderFound[];
}

/** Of answers that name as many, the newest; one that names a holder before one that found none. */
function mostNamed(answers: readonly HolderAnswer[], process: number, sites: readonly number[]): NamedHolders | null {
  const named = answers
    .filter(answer => answer.process === process)
    .map(answer => ({ answer, holders: holdersIn(answer.held, sites) }))
    .filter(({ holders }) => holders.length > 0);
  const withHolder = named.filter(({ holders }) => holders.some(({ kind }) => !NO_HOLDER.has(kind)));
  const best = withHolder.length > 0 ? withHolder : named;
  return best.sort((a, b) => blocksOf(b.holders) - blocksOf(a.holders))[0] ?? null;
}

export const blocksOf = (holders: readonly HolderFound[]): number => sum(holders.map(({ count }) => count));

/** Other holders of a real part of what a holder has, where that is one of `all`; then the one's fix would free nothing. */
function alsoIn(held: HeldBlocks, sites: readonly number[], all: number): Pick<FindingHolder, 'also' | 'fix'> {
  const of = sumOf(held, sites).count;
  if (of <= T.little * all) return {};
  const parts = (held.also ?? []).flatMap(other => {
    const { path, file, line } = other.holder;
    const { count: blocks } = sumOf(other, sites);
    return blocks > T.little * of ? [{ path, file, line, blocks, of }] : [];
  });
  return parts.length > 0 ? { also: parts, fix: undefined } : {};
}

function sumOf(held: HeldBlocks, sites: readonly number[]): { count: number; bytes: number } {
  const own = sites.map(site => held.sites.get(site) ?? { count: 0, bytes: 0 });
  const whole = (of: 'count' | 'bytes'): number => Math.round(sum(own.map(each => each[of]))); // blocks stand for others
  return { count: whole('count'), bytes: whole('bytes') };
}
