import { attempt } from '../base/attempt';
import { isFields, parseFields, type Fields } from '../base/fields';
import type { Attributes, Metric } from '../protocol/metrics';

/** Where a collector listens by default. */
const USUAL = 'http://localhost:4318';
const PATH = '/v1/metrics';
/** AggregationTemporality.CUMULATIVE */
const CUMULATIVE = 2;

/** A server that takes metrics, and the resource that they come from. */
export interface OtlpServer {
  url: URL;
  headers: Headers;
  resource: Attributes;
}

/**
 * The server at this address, or (`''`) that of OpenTelemetry's variables. One sentence where its address is none.
 * `instance` sets this recording apart from all others.
 */
export function otlpServer(address: string, env: NodeJS.ProcessEnv, instance: string): OtlpServer | { error: string } {
  const own = address === '' ? env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT : undefined;
  const text = own || address || env.OTEL_EXPORTER_OTLP_ENDPOINT || USUAL;
  const url = attempt(() => new URL(text), null);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
    return { error: `${text.replace(/\/\/.*@/, '//')} is not a server address, such as ${USUAL} (--otlp).` };
  if (!own && !url.pathname.endsWith(PATH)) url.pathname = url.pathname.replace(/\/*$/, PATH);
  const named = { ...pairs(env.OTEL_EXPORTER_OTLP_HEADERS), ...pairs(env.OTEL_EXPORTER_OTLP_METRICS_HEADERS) };
  const headers = attempt(() => new Headers({ ...named, 'content-type': 'application/json' }), null);
  if (headers === null) return { error: 'OTEL_EXPORTER_OTLP_HEADERS has a header that cannot be sent (--otlp).' };
  const resource = pairs(env.OTEL_RESOURCE_ATTRIBUTES);
  const name = env.OTEL_SERVICE_NAME || resource['service.name'] || 'gpu-memtrace';
  return {
    url,
    headers,
    resource: { 'service.instance.id': instance, ...resource, 'service.name': name },
  };
}

/** Sends metrics of this moment, once. Rejects with why they were not taken. */
export async function sendOtlp(server: OtlpServer, body: string, signal: AbortSignal): Promise<void> {
  const { url, headers } = server;
  // What stands in the headers is for this server, not for one that it names.
  const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the server answered ${`${answer.status} ${answer.statusText}`.trim()}`);
  const { partialSuccess } = parseFields(text) ?? {};
  const { rejectedDataPoints = 0, errorMessage = '' } = isFields(partialSuccess) ? partialSuccess : {};
  if (Number(rejectedDataPoints) > 0)
    throw new Error(`the server rejected ${String(rejectedDataPoints)} points: ${String(errorMessage)}`);
}

/** An ExportMetricsServiceRequest, as JSON, in which 64-bit numbers are text. Times are whole milliseconds. */
export function otlpJson(metrics: readonly Metric[], resource: Attributes, beginMs: number, nowMs: number): string {
  const times = { startTimeUnixNano: `${beginMs}000000`, timeUnixNano: `${nowMs}000000` };
  const scope = { name: 'gpu-memtrace' };
  const scopeMetrics = [{ scope, metrics: metrics.map(metric => otlpMetric(metric, times)) }];
  return JSON.stringify({ resourceMetrics: [{ resource: { attributes: keyValues(resource) }, scopeMetrics }] });
}

function otlpMetric({ name, unit, description, kind, points }: Metric, times: Fields): Fields {
  const gauge = kind === 'gauge';
  const dataPoints = points.map(({ value, attributes }) => {
    const number = gauge ? { asDouble: value } : { asInt: String(value) };
    return { attributes: keyValues(attributes), ...times, ...number };
  });
  const sum = { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: kind === 'counter' };
  return { name, unit, description, ...(gauge ? { gauge: { dataPoints } } : { sum }) };
}

function keyValues(attributes: Attributes): Fields[] {
  const wrapped = (value: Attributes[string]): Fields => {
    if (typeof value === 'number') return { intValue: String(value) };
    return typeof value === 'string' ? { stringValue: value } : { boolValue: value };
  };
  return Object.entries(attributes).map(([key, value]) => ({ key, value: wrapped(value) }));
}

/** `name=value,name=value`, the values percent-encoded. */
function pairs(text = ''): Record<string, string> {
  const all = [...text.matchAll(/(?:^|,)\s*([^=,\s]+)\s*=\s*([^,]*?)\s*(?=,|$)/g)];
  return Object.fromEntries(all.map(([, name, value = '']) => [name, attempt(() => decodeURIComponent(value), value)]));
}
