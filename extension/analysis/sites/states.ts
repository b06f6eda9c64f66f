import { t } from '@vscode/l10n';
import type { SiteState, SiteVerdict } from '../../protocol/verdicts';
import { formatCount } from '../../text/format';
import { judgeGrowth, type Growth } from '../series/growth';
import { fewestRecords } from '../series/records';
import type { SiteSteps } from '../series/siteSeries';
import { at, highOutliers, median, runningSum, sum } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import { howOftenText } from '../words';

/** A site with its verdict. */
export interface JudgedSite {
  verdict: SiteVerdict;
  steps: SiteSteps;
}

/** Judges what one site does, from its series alone; `ended`: no more steps come. */
export function judgeSite(site: SiteSteps, ended: boolean): SiteVerdict {
  if (site.lineSource === 'before-attach') {
    return stateVerdict(
      site,
      'before-attach',
      t('It was allocated before the recording began, so its growth is unknown.'),
    );
  }
  if (site.steps.length === 0) {
    return stateVerdict(site, 'unknown', t('No step is complete yet; {0} are needed.', T.few + fewestRecords()));
  }
  if (site.segments) return stateVerdict(site, 'cache', t('PyTorch reserved it for tensors, so it grows as they do.'));
  const blocks = judgeGrowth({ steps: site.steps, values: site.oldLiveCount, lag: 2 });
  if (blocks.state === 'growing') return growing(site, blocks, 'blocks');
  const size = judgeSize(site);
  if (size?.state === 'growing') return growing(site, size, 'size');
  const level = judgeLevel(site, blocks);
  if (level !== null) return growing(site, level, 'level');
  const kept = judgeKept(site, blocks);
  if (kept !== null) return growing(site, kept, 'kept');
  return still(site, blocks, size, ended);
}

/** More blocks at each step's end, though none of them is old: what makes them piles up, and replaces them each time. */
function judgeLevel({ steps, liveCount, category }: SiteSteps, { state }: Growth): Growth | null {
  if (state !== 'empty' && state !== 'flat') return null;
  if (category !== 'activation' && category !== 'unnamed') return null; // there are as many as the model has parameters
  const level = judgeGrowth({ steps, values: liveCount, lag: 0 });
  return level.state === 'growing' ? level : null;
}

/**
 * The same of one line that is reached by several stacks, each of which may replace the blocks of the other: no site's level rises, and
 * that of the line does. Gives the verdict of the site with most; null: the line's level does not rise.
 */
export function judgeLine(sites: readonly SiteSteps[]): SiteVerdict | null {
  const last = (site: SiteSteps): number => at(site.liveBytes, site.liveBytes.length - 1);
  const [main] = [...sites].sort((a, b) => last(b) - last(a));
  if (main === undefined || sites.length < 2) return null;
  const total = (column: 'liveCount' | 'liveBytes' | 'oldLiveCount'): number[] =>
    main.steps.map((_, i) => sum(sites.map(site => at(site[column], i))));
  const line = { ...main, liveCount: total('liveCount'), liveBytes: total('liveBytes') };
  const level = judgeLevel(line, judgeGrowth({ steps: main.steps, values: total('oldLiveCount'), lag: 2 }));
  return level === null ? null : growing(line, level, 'level');
}

/**
 * Blocks that are older than any that was freed there, though others come and go: one list of several is never emptied. What fills
 * up has most of them early, and what takes blocks out by chance has none.
 */
function judgeKept({ steps, survivorCount, oldestFreedSteps }: SiteSteps, { state }: Growth): Growth | null {
  if (state !== 'sawtooth' && state !== 'bounded') return null;
  const last = at(steps, steps.length - 1);
  const old = steps.filter(step => step <= last - oldestFreedSteps);
  const kept = judgeGrowth({ steps: old, values: runningSum(survivorCount).slice(0, old.length), lag: 0 });
  // Where all of an epoch goes at once, the longest epoch so far is older than all before it, but not by as much again.
  return kept.state === 'growing' && T.most * (last - kept.since) >= oldestFreedSteps ? kept : null;
}

/** Growth of one line's blocks in size: as many at each step's end, and more and more bytes. */
function judgeSize(site: SiteSteps): Growth | null {
  const bytes = withoutSlack(site.liveBytes);
  const growth = judgeGrowth({ steps: site.steps, values: bytes, lag: 0 });
  if (growth.state !== 'growing' && growth.state !== 'early') return null;
  const counts = site.liveCount.slice(growth.from + 1);
  const usual = median(counts);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (least < 1 || most - least > Math.max(1, T.little * usual)) return null;
  let [rises, falls] = [0, 0];
  for (let i = growth.from + 1; i < bytes.length; i++) {
    const change = at(bytes, i) - at(bytes, i - 1);
    if (change > 0) rises += change;
    else falls -= change;
  }
  // What grows by less follows something else, such as the gradients beside a workspace.
  return falls <= T.part * rises && rises >= T.little * at(bytes, growth.to) ? growth : null;
}

/**
 * Without the steps in which the block was bigger than the next one, and that one as big as the one before: an allocator hands
 * out a block as it lies there where its rest is not worth a block of its own, so a tensor that grows by less goes up and down.
 */
function withoutSlack(bytes: readonly number[]): number[] {
  return bytes.map((value, i) => {
    const next = at(bytes, Math.min(i + 1, bytes.length - 1));
    const isSlack = i > 0 && next < value && value - next <= T.smallBytes && next >= at(bytes, i - 1);
    return isSlack ? next : value;
  });
}

/** So many entries may not have kept anything yet. */
const NEWEST = 2;

/**
 * Bytes that stay a step. Where every step keeps some, the newest ones that kept nothing yet do not count; where fewer do, it is
 * measured from one such step to another.
 */
function rateOf(steps: readonly number[], values: readonly number[], { from, to, gap }: Growth): number {
  const isRise = (i: number): boolean => at(values, i) > at(values, i - 1);
  const rare = Math.round(gap) > 1;
  let [begin, end] = [from, to];
  while (end > (rare ? from + 1 : Math.max(from + 1, to - NEWEST)) && !isRise(end)) end--;
  // From the first rise on: blocks count only two steps after they were allocated.
  while (begin < (rare ? end - 1 : Math.min(end - 1, from + NEWEST + 1)) && !isRise(begin)) begin++;
  const span = at(steps, end) - at(steps, begin);
  return span > 0 ? (at(values, end) - at(values, begin)) / span : 0;
}

function growing(site: SiteSteps, growth: Growth, what: 'blocks' | 'size' | 'level' | 'kept'): SiteVerdict {
  const values = {
    blocks: site.oldLiveBytes,
    kept: runningSum(site.survivorBytes),
    size: site.liveBytes,
    level: site.liveBytes,
  }[what];
  const bytesPerStep = rateOf(site.steps, values, growth);
  const { since, events, from, to } = growth;
  // Steps of the far past are merged: the number of times that it grew is the least that it can be, and some may have kept no block.
  const blocks = what === 'blocks' ? at(site.oldLiveCount, to) - at(site.oldLiveCount, from) : 0;
  const gap = Math.max(growth.gap, blocks > 0 ? (at(site.steps, to) - at(site.steps, from)) / blocks : 1);
  const often = howOftenText(gap);
  const rhythm = Math.round(gap) > 1 ? t('{0} (at least {1} times)', often, events) : often;
  const because = {
    blocks: t('Since step {0}, the number of blocks that stay alive has risen {1}.', since, rhythm),
    level: t(
      'Since step {0}, the number of live blocks at the end of a step has risen {1}, although every step replaces all blocks.',
      since,
      rhythm,
    ),
    kept: t('Since step {0}, some new blocks stayed alive {1}, while others were freed.', since, rhythm),
    size: t('Since step {0}, its block was replaced by a larger one {1}.', since, rhythm),
  }[what];
  return {
    ...stateVerdict(site, 'growing', because),
    grows: what === 'kept' ? 'blocks' : what,
    bytesPerStep,
    sinceStep: growth.since,
    rises: growth.events,
    period: growth.gap,
    confidence: growth.confidence,
  };
}

function still(site: SiteSteps, blocks: Growth, size: Growth | null, ended: boolean): SiteVerdict {
  const oldFreed = sum(site.oldFreedBytes);
  if (oldFreed > 0 && sum(site.gcFreedBytes) >= T.most * oldFreed) {
    return stateVerdict(site, 'cycle', t('Reference cycles keep it alive, so only the garbage collector frees it.'));
  }
  const odd = anomalyOf(site);
  if (odd !== null) return odd;
  switch (blocks.state) {
    case 'sawtooth':
    case 'bounded':
      return sawtooth(site, blocks);
    case 'slowing':
      return stateVerdict(site, 'plateau', t('It grew more and more slowly, like a cache filling up.'));
    case 'early':
      return rising(waiting(site, blocks.waits, ended), blocks.events, riseOf(site.oldLiveBytes, blocks));
    case 'stopped':
    case 'flat':
      return at(site.oldLiveCount, site.oldLiveCount.length - 1) > 0 ? resting(site, blocks, ended) : released(site);
    case 'empty':
    case 'growing':
      return size?.state === 'early' && size.events > 1 ? waiting(site, size.waits, ended) : brief(site, ended);
  }
}

function sawtooth(site: SiteSteps, blocks: Growth): SiteVerdict {
  const distances = blocks.falls
    .slice(1)
    .map((fall, i) => at(site.steps, fall.at) - at(site.steps, blocks.falls[i]?.at ?? 0));
  const period = distances.length > 0 ? median(distances) : null;
  const falls = blocks.falls.length;
  const because =
    falls > 0
      ? period === null
        ? t('It builds up and is freed again ({0}).', times(falls))
        : t('It builds up and is freed again, every {0} steps ({1}).', Math.round(period), times(falls))
      : t('New blocks replace old ones, so its size stays the same.');
  return { ...stateVerdict(site, 'sawtooth', because), period };
}

/** Holds old blocks and does not grow. */
function resting(site: SiteSteps, blocks: Growth, ended: boolean): SiteVerdict {
  const last = site.steps.length - 1;
  const working = site.stepAllocations.filter(count => count > 0).length;
  const freedLate = site.oldFreedBytes.slice(-T.many).some(bytes => bytes > 0);
  if (freedLate && at(site.steps, last) - site.lastAllocationStep <= T.many) {
    return stateVerdict(site, 'sawtooth', t('New blocks replace old ones, so its size is bounded.'));
  }
  const lacking = T.few + fewestRecords() + 2 - (at(site.steps, last) - at(site.steps, 0) + 1);
  if (working > 1 && lacking > 0) return risingSoFar(site, waiting(site, lacking, ended));
  if (working <= 1 && site.category !== 'optimizer')
    return stateVerdict(site, 'one-shot', t('Allocated in one step and still alive.'));
  const stopped = blocks.state === 'stopped';
  const { oldLiveCount: old, steps } = site;
  const rise = old.findLastIndex((count, i) => count > at(old, i - 1));
  const because = stopped
    ? t('It has not grown since step {0}.', rise < 0 ? at(steps, 0) : Math.max(1, at(steps, rise) - 2))
    : t('It has not grown after the first steps.');
  return stateVerdict(site, 'plateau', because);
}

function released(site: SiteSteps): SiteVerdict {
  return stateVerdict(site, 'sawtooth', t('It stayed alive for a while; all of it has been freed since.'));
}

function riseOf(bytes: readonly number[], { from, to }: Growth): number {
  return at(bytes, to) - at(bytes, from);
}

/** What holds more at each step's end, in too few of them for anything else. */
function risingSoFar({ liveBytes }: SiteSteps, verdict: SiteVerdict): SiteVerdict {
  const changes = liveBytes.slice(1).map((bytes, i) => bytes - at(liveBytes, i));
  if (changes.some(change => change < 0)) return verdict;
  return rising(verdict, changes.filter(change => change > 0).length, sum(changes));
}

/** Of a site that rises: more steps must show whether it grows. */
export function rising(verdict: SiteVerdict, rises: number, risenBytes: number): SiteVerdict {
  return { ...verdict, rises, risenBytes: Math.max(0, risenBytes) };
}

function brief(site: SiteSteps, ended: boolean): SiteVerdict {
  if (site.steps.length < T.few && at(site.liveCount, site.liveCount.length - 1) > 0) {
    return waiting(site, T.few + fewestRecords(), ended);
  }
  return stateVerdict(site, 'transient', t('It is freed within one or two steps.'));
}

function waiting(site: SiteSteps, steps: number, ended: boolean): SiteVerdict {
  if (ended) return stateVerdict(site, 'unknown', tooEarlyText(steps));
  const because = steps > 1 ? t('A verdict needs {0} more steps.', steps) : t('A verdict needs 1 more step.');
  return stateVerdict(site, 'unknown', because);
}

/** Why nothing is known of a program that has ended. */
export function tooEarlyText(steps: number): string {
  return steps > 1
    ? t('The program ended {0} steps too early to judge it.', formatCount(steps))
    : t('The program ended 1 step too early to judge it.');
}

/** One allocation far above the line's habit, of a line that works often. */
function anomalyOf(site: SiteSteps): SiteVerdict | null {
  const worked = site.stepLargestBytes.flatMap((bytes, i) => (bytes > 0 ? [i] : []));
  if (worked.length < T.few + fewestRecords()) return null;
  const sizes = worked.map(i => at(site.stepLargestBytes, i));
  // A line's first steps bring what libraries take once: cuBLAS' workspaces, tried algorithms.
  const odd = highOutliers(sizes, T.deviations, T.times).filter(i => i >= T.few && at(sizes, i) >= T.smallBytes);
  if (odd.length === 0 || odd.length > Math.max(1, T.rare * sizes.length)) return null;
  const where = at(site.steps, worked[odd[0] ?? 0] ?? 0);
  const ratio = Math.round(at(sizes, odd[0] ?? 0) / median(sizes));
  return stateVerdict(site, 'anomaly', t('In step {0}, it allocated {1} times its usual size at once.', where, ratio));
}

/** Of a site that does not grow. */
export function stateVerdict(
  { site, process, layer }: Pick<SiteVerdict, 'site' | 'process' | 'layer'>,
  state: SiteState,
  because: string,
): SiteVerdict {
  const confidence = state === 'unknown' ? 0 : 1;
  const still = { grows: null, bytesPerStep: 0, sinceStep: null, rises: 0, risenBytes: 0, period: null };
  return { site, process, layer, state, ...still, confidence, because };
}

function times(count: number): string {
  return count === 1 ? t('once') : t('{0} times', count);
}
