import type { ExportInput } from './exportInput';

export const EXPORT_FORMATS = ['csv', 'pytorch-snapshot', 'perfetto', 'pprof', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface Exporter {
  /** Of the file, without the dot. */
  extension: string;
  /** Not to be written to a terminal. */
  binary: boolean;
  /**
   * Gives what writes a selection, a piece at a time; that rejects as the reading of the trace does. Loaded when it is wanted: who
   * records or looks needs none of the formats' libraries.
   */
  load(): Promise<(input: ExportInput) => AsyncIterable<Uint8Array>>;
}

export const EXPORTERS: Record<ExportFormat, Exporter> = {
  csv: { extension: 'csv', binary: false, load: async () => (await import('./csv')).csvChunks },
  'pytorch-snapshot': {
    extension: 'pickle',
    binary: true,
    load: async () => (await import('./pytorchSnapshot')).pytorchSnapshotChunks,
  },
  perfetto: {
    extension: 'perfetto.json',
    binary: false,
    load: async () => (await import('./perfetto')).perfettoChunks,
  },
  pprof: { extension: 'pb.gz', binary: true, load: async () => (await import('./pprof')).pprofChunks },
  parquet: {
    extension: 'parquet',
    binary: true,
    load: async () => (await import('./parquet')).allocationsChunks,
  },
};
