import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../text/format';
import { groupBy } from '../../base/maps';
import { allocationRows, PASSES, type Pass, type TraceSource } from '../../protocol/trace';
import { sum } from '../../analysis/series/statistics';
import { THRESHOLDS as T } from '../../analysis/series/thresholds';
import { inSentence, namedFrame, siteText } from '../../analysis/sites/site';

// Within one step, memory that should go with its backward pass, and stays: outputs of micro-batches, collected with their graphs.

/** What one line has alive, of the rounds of one step whose backward pass has ended. */
export interface BuildUp {
  line: string;
  place: { file: string; line: number } | null;
  bytes: number;
  count: number;
  /** Backward passes that it was allocated before, each another one. */
  rounds: number;
}

/** Newest blocks that are read. */
const MOST_BLOCKS = 50_000;
/** Gradients and the optimizer's states stay by design. */
const MADE_ONCE: ReadonlySet<Pass> = new Set(['backward', 'optimizer']);
/** Whether a usual step of the process has several backward passes, by those that are kept. */
export function hasRounds(source: TraceSource, process: number): boolean {
  const passes = passesIn(source, process, 0);
  const count = (kind: Pass): number => passes.filter(({ pass }) => pass === kind).length;
  return count('backward') >= T.few * Math.max(1, count('optimizer'));
}

/** Lines that make up more than a little of `peakBytes` so, most first. `then`: the trace at the peak; its step began at `fromNs`. */
export function buildUps(
  then: TraceSource,
  where: { process: number; device: number },
  fromNs: number,
  peakBytes: number,
): BuildUp[] {
  const passes = passesIn(then, where.process, fromNs);
  const begins = passes.filter(({ pass }) => pass === 'backward').map(({ beginNs }) => beginNs);
  const ended = begins.length - (passes.at(-1)?.pass === 'backward' ? 1 : 0);
  if (ended < T.few) return [];
  const before = (ns: number): number => begins.filter(begin => begin <= ns).length;
  const born = { layer: 'tensor', ...where, bornFromNs: fromNs } as const;
  const rows = allocationRows(then.allocations({ ...born, sort: 'age', descending: false, from: 0, to: MOST_BLOCKS }));
  const stayed = rows.flatMap(({ site, bytes, timeNs }) => {
    const round = before(timeNs);
    if (round >= ended || MADE_ONCE.has(passAt(passes, timeNs))) return [];
    return { line: siteText(then.site(site)), site, bytes, round };
  });
  return [...groupBy(stayed, ({ line }) => line).values()]
    .map(own => {
      const frame = namedFrame(then.site(own[0].site));
      return {
        line: own[0].line,
        place: frame && { file: frame.file, line: frame.line },
        bytes: sum(own.map(({ bytes }) => bytes)),
        count: own.length,
        rounds: new Set(own.map(({ round }) => round)).size,
      };
    })
    .filter(({ bytes, rounds }) => bytes > T.little * peakBytes && rounds >= T.few && rounds > T.most * ended)
    .sort((a, b) => b.bytes - a.bytes);
}

/** `192 MiB of it builds up within the step: 24 tensors of train.py:15 outlive 24 backward passes. …` */
export function buildUpSentence({ bytes, count, line, rounds }: BuildUp): string {
  return t(
    '{0} of it builds up within the step: {1} tensors from {2}, allocated in {3} iterations, outlive their backward passes. The code that collects them keeps them alive, and their autograd graphs too unless they are detached. Keep only what you need: `.detach()` for values, `.cpu()` to move them off the GPU.',
    formatBytes(bytes),
    formatCount(count),
    inSentence(line),
    formatCount(rounds),
  );
}

function passesIn(source: TraceSource, process: number, fromNs: number) {
  const flat = source.passes({ process, fromNs, toNs: source.info().durationNs + 1 });
  const all = Array.from({ length: flat.length / 2 }, (_, i) => ({
    beginNs: flat[2 * i]!,
    pass: PASSES[flat[2 * i + 1]!] ?? 'other',
  }));
  return all.filter(({ beginNs }) => beginNs >= fromNs);
}

function passAt(passes: ReturnType<typeof passesIn>, ns: number): Pass {
  return passes.findLast(({ beginNs }) => beginNs <= ns)?.pass ?? 'other';
}
