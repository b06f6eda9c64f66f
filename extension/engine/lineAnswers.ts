// What the editor shows beside lines of source.
import { asOf, factsByFile, fileFilter } from '../report/lines/lineFacts';
import { sourcePath } from '../files/sourcePath';
import type { SourceFolders } from '../protocol/cwd';
import type { LineAnswers, LineFacts } from '../protocol/requests/engineRequests';
import { listedLayer, type TraceSource } from '../protocol/trace';
import type { FollowedTrace } from './followedTrace';

const MOST_LINES = 5_000;

/** The lines of these files, with what is alive now, or at the moment that is shown instead of the end. */
export async function linesOf(
  trace: FollowedTrace,
  paths: readonly string[],
  folders: SourceFolders,
): Promise<LineAnswers> {
  const { session, ending } = trace;
  const then = ending === null ? null : await session.moments.at(ending.timeNs);
  const layer = listedLayer(session.native.info().totals);
  const linesIn = (source: TraceSource, path: string): LineFacts[] => {
    const order = { groupBy: 'line', sort: 'peakBytes', descending: true, includeDead: true } as const;
    const query = { layer, filter: fileFilter(path), from: 0, to: MOST_LINES };
    const found = factsByFile(source.sites({ ...order, ...query }));
    return [...found].find(([file]) => sourcePath(file, folders) === path)?.[1] ?? [];
  };
  const files = new Map<string, LineFacts[]>();
  for (const path of paths) {
    const whole = linesIn(session.native, path);
    files.set(path, then === null ? whole : asOf(linesIn(then, path), whole));
  }
  const biggest = { layer, sort: 'liveBytes', descending: true, groupBy: 'line', from: 0, to: 1 } as const;
  return { files, mostBytes: (then ?? session.native).sites(biggest).liveBytes[0] ?? 0 };
}
