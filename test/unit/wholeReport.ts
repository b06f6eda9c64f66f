import { buildReport, type Report } from '../../extension/report/documents/reportDocument';
import { jsonChunks } from '../../extension/cli/report/jsonChunks';

type Listed<T> = T extends Iterable<infer Entry> ? Entry[] : never;
export type WholeReport = Omit<Report, 'allocations' | 'sites'> & {
  allocations: Listed<Report['allocations']>;
  sites: Listed<Report['sites']>;
};

/** The document as who reads the JSON gets it. */
export function wholeReport(...source: Parameters<typeof buildReport>): WholeReport {
  return JSON.parse([...jsonChunks(buildReport(...source))].join('')) as WholeReport;
}
