// What is measured of a recording while it runs: read by report/documents, written by exporters for tools that collect numbers.

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Metric {
  /** As OpenTelemetry names things: `gpu_memtrace.tensor.live`. */
  name: string;
  /** By UCUM: `By`, `By/{step}`, `{step}`. */
  unit: string;
  description: string;
  /** `counter`: only rises; `sum`: can be added up over its points; `gauge`: cannot. */
  kind: 'counter' | 'sum' | 'gauge';
  /** No two with the same attributes. Of what is not known there is none. */
  points: { value: number; attributes: Attributes }[];
}
