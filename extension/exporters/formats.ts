import type { ExportFormat } from '../protocol/exportFormats';
import type { ExportInput } from './exportInput';

export interface Exporter {
  /** Not to be written to a terminal. */
  binary: boolean;
  /**
   * Gives what writes a selection, a piece at a time; that rejects as the reading of the trace does. Loaded on first use:
   * recording and viewing need none of the formats' libraries.
   */
  load(): Promise<(input: ExportInput) => AsyncIterable<Uint8Array>>;
}

/** The page for browsers is made by `extension/html`. */
export type TableFormat = Exclude<ExportFormat, 'html'>;

export const EXPORTERS: Record<TableFormat, Exporter> = {
  csv: { binary: false, load: async () => (await import('./csv')).csvChunks },
  'pytorch-snapshot': {
    binary: true,
    load: async () => (await import('./pytorchSnapshot')).pytorchSnapshotChunks,
  },
  perfetto: {
    binary: false,
    load: async () => (await import('./perfetto')).perfettoChunks,
  },
  pprof: { binary: true, load: async () => (await import('./pprof')).pprofChunks },
  parquet: {
    binary: true,
    load: async () => (await import('./parquet')).allocationsChunks,
  },
};
