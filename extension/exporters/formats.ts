import { arrowChunks } from './arrow';
import { csvChunks } from './csv';
import type { ExportInput } from './exportInput';
import { perfettoChunks } from './perfetto';
import { pprofChunks } from './pprof';
import { pytorchSnapshotChunks } from './pytorchSnapshot';
import { speedscopeChunks } from './speedscope';

export const EXPORT_FORMATS = ['csv', 'pytorch-snapshot', 'perfetto', 'pprof', 'speedscope', 'arrow'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface Exporter {
  /** Of the file, without the dot. */
  extension: string;
  /** Not to be written to a terminal. */
  binary: boolean;
  chunks(input: ExportInput): AsyncIterable<Uint8Array>;
}

export const EXPORTERS: Record<ExportFormat, Exporter> = {
  csv: { extension: 'csv', binary: false, chunks: csvChunks },
  'pytorch-snapshot': { extension: 'pickle', binary: true, chunks: pytorchSnapshotChunks },
  perfetto: { extension: 'perfetto.json', binary: false, chunks: perfettoChunks },
  pprof: { extension: 'pb.gz', binary: true, chunks: pprofChunks },
  speedscope: { extension: 'speedscope.json', binary: false, chunks: speedscopeChunks },
  arrow: { extension: 'arrow', binary: true, chunks: arrowChunks },
};
