// What the editor shows beside lines of source.
import { asOf, factsByFile, fileFilter } from '../report/lines/lineFacts';
import { momentWords } from '../report/tables/momentWords';
import { sourcePath } from '../files/sourcePath';
import type { SourceFolders } from '../protocol/cwd';
import type { LineAnswers, LineFacts } from '../protocol/requests/engineRequests';
import type { Moment, ShownMoment } from '../protocol/requests/moment';
import { listedLayer, type TraceSource } from '../protocol/trace';
import { bornIn, sourceOf } from './answers/source';
import type { FollowedTrace } from './followedTrace';

const MOST_LINES = 5_000;
/** The line that holds most; with it comes the sum of all. */
const BIGGEST = { groupBy: 'line', sort: 'liveBytes', descending: true, from: 0, to: 1 } as const;

/** The lines of these files, with what is alive at a moment. */
export async function linesOf(
  trace: FollowedTrace,
  paths: readonly string[],
  folders: SourceFolders,
  moment: Moment,
): Promise<LineAnswers> {
  const { native } = trace.session;
  const then = await sourceOf({ shown: trace }, moment);
  const born = bornIn(then);
  const layer = listedLayer(native.info().totals);
  const linesIn = (source: TraceSource, path: string, span = {}): LineFacts[] => {
    const order = { groupBy: 'line', sort: 'peakBytes', descending: true, includeDead: true } as const;
    const query = { layer, filter: fileFilter(path), from: 0, to: MOST_LINES };
    const found = factsByFile(source.sites({ ...order, ...query, ...span }));
    return [...found].find(([file]) => sourcePath(file, folders) === path)?.[1] ?? [];
  };
  const files = new Map<string, LineFacts[]>();
  for (const path of paths) {
    const whole = linesIn(native, path);
    files.set(path, moment.kind === 'now' ? whole : asOf(linesIn(then.source, path, born), whole));
  }
  const biggest = then.source.sites({ ...BIGGEST, layer, ...born });
  return { files, mostBytes: biggest.liveBytes[0] ?? 0 };
}

/** What a moment is called, and what was alive then. */
export async function nameMoment(trace: FollowedTrace, moment: Moment): Promise<Pick<ShownMoment, 'when' | 'bytes'>> {
  const { native } = trace.session;
  const when = momentWords(native, moment);
  if (moment.kind === 'now') return { when, bytes: null };
  const then = await sourceOf({ shown: trace }, moment);
  const layer = listedLayer(native.info().totals);
  return { when, bytes: then.source.sites({ ...BIGGEST, layer, ...bornIn(then) }).sumLiveBytes };
}
