import { isatty } from 'node:tty';
import { reasonOf } from '../../capture/traces/traceDirectory';
import { writeNamedFrom } from '../../files/files';
import type { ExportWatch } from '../../exporters/exportInput';
import { EXPORTERS } from '../../exporters/formats';
import type { ExportFormat } from '../../protocol/exportFormats';
import { refuse, write } from '../output/output';
import type { ReportArguments } from '../arguments/reportArguments';
import { giveToSudoUser } from '../output/resultFile';

const FAILED = 1;
const USAGE = 2;
const INTERRUPTED = 130;
const PROGRESS_MS = 200;

/** Writes an export to its file, or to stdout where that is no terminal. Ctrl+C leaves no half of a file. */
export async function exportReport(
  { output }: ReportArguments,
  format: ExportFormat,
  chunksOf: (watch: ExportWatch) => AsyncIterable<Uint8Array>,
): Promise<number> {
  if (output === null && (format === 'html' || EXPORTERS[format].binary) && isatty(1))
    return refuse(`${format} cannot be written to a terminal: use -o FILE, or redirect stdout.`, USAGE);
  const abort = new AbortController();
  const stop = (): void => abort.abort(new Error('interrupted'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const progress = showProgress(format);
  try {
    const watch = { signal: abort.signal, onProgress: progress.show };
    const chunks = untilAborted(chunksOf(watch), abort.signal);
    if (output === null) {
      for await (const chunk of chunks) if (!write(1, chunk)) break;
    } else {
      await writeNamedFrom(output, chunks);
      giveToSudoUser(output);
    }
    return 0;
  } catch (error) {
    progress.clear();
    if (abort.signal.aborted) return INTERRUPTED;
    const reason = reasonOf(error);
    return refuse(output === null ? reason : `${output} could not be written: ${reason}.`, FAILED);
  } finally {
    progress.clear();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

/** Signals are handled between two pieces. */
async function* untilAborted(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    await new Promise(done => setImmediate(done));
    signal.throwIfAborted();
    yield chunk;
  }
}

function showProgress(format: string): { show: (done: number) => void; clear: () => void } {
  if (!isatty(2)) return { show: () => undefined, clear: () => undefined };
  let shown = 0;
  return {
    show: done => {
      if (Date.now() - shown < PROGRESS_MS) return;
      shown = Date.now();
      write(2, `\r${format}: ${Math.floor(done * 100)}% read`);
    },
    clear: () => {
      if (shown > 0) write(2, '\r\x1b[K');
      shown = 0;
    },
  };
}
