import { BEHIND_NS, oomDocuments } from '../report/documents/oomReport';
import { keepOomDocument } from '../capture/traces/keptTraces';
import { waysToFit } from '../fit/waysToFit';
import type { NativeAddon } from '../native/addon';
import { textOf } from '../text/escapeForTerminal';
import type { TraceSource } from '../protocol/trace';
import type { FollowedTrace } from './followedTrace';

/** Writes the reports on memory that ran out, as documents in a folder; their paths. */
export async function writeOomFiles(
  addon: NativeAddon,
  folder: string,
  { session, verdicts }: FollowedTrace,
): Promise<string[]> {
  const { native, moments, path } = session;
  const endNs = native.info().durationNs + BEHIND_NS;
  const readAt = async <T>(untilNs: number | null, read: (then: TraceSource) => T): Promise<T> =>
    read(untilNs === null ? native : await moments.at(untilNs));
  const documents = await oomDocuments(native, (await verdicts.verdictsNow()).verdicts, {
    ...{ endNs, readAt },
    waysToFit: (failure, limitBytes) => waysToFit(addon, path, native, failure, limitBytes),
  });
  return documents.map(({ name, lines }) => keepOomDocument(folder, name, textOf(lines)));
}
