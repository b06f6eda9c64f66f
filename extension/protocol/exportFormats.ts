/** Formats of other tools, and a page for browsers, with the ending of their files, without the dot. */
export const EXPORT_EXTENSIONS = {
  csv: 'csv',
  'pytorch-snapshot': 'pickle',
  perfetto: 'perfetto.json',
  pprof: 'pb.gz',
  parquet: 'parquet',
  html: 'html',
} as const;
export type ExportFormat = keyof typeof EXPORT_EXTENSIONS;
export const EXPORT_FORMATS = Object.keys(EXPORT_EXTENSIONS) as ExportFormat[];
