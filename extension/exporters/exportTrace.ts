import type { NativeAddon, NativeTrace } from '../native/native';
import { makeInput, type ExportWatch, type Selection } from './exportInput';
import { EXPORTERS, type TableFormat } from './formats';

/**
 * Reads the trace at `path` and gives it in the format, a piece at a time. Rejects with one sentence, or the signal's reason. `whole`: the
 * same trace, read to its end: blocks of a moment have the names that they got later, as where a moment is shown.
 */
export async function* exportTrace(
  addon: NativeAddon,
  path: string,
  format: TableFormat,
  selection: Selection,
  watch: ExportWatch = {},
  whole?: NativeTrace,
): AsyncGenerator<Uint8Array> {
  const write = await EXPORTERS[format].load();
  const session = addon.open(path, selection.untilNs === null ? {} : { untilNs: selection.untilNs });
  try {
    await session.settle(whole);
    watch.signal?.throwIfAborted();
    const { live, durationNs } = session.info();
    // What a running program adds meanwhile would be in one part of the export and not in another.
    const untilNs = selection.untilNs ?? (live ? durationNs : null);
    const cursor = addon.openLifetimes(path, {
      ...(untilNs === null ? {} : { untilNs }),
      ...(selection.fromNs === null || untilNs === null ? {} : { fromNs: untilNs }),
    });
    if (whole !== undefined) cursor.addNamesOf(whole);
    try {
      yield* write(makeInput(session, cursor, selection, watch));
    } finally {
      cursor.close();
    }
  } finally {
    session.close();
  }
}
