import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { servesMs } from '../analysis/findings/firstLeaks';
import { verdictsOf } from '../analysis/findings/verdictCache';
import { readMetrics } from '../report/documents/readMetrics';
import { reasonOf } from '../capture/traces/traceDirectory';
import type { NativeTrace } from '../native/addon';
import { createLineReader } from '../native/lineReader';
import { writeWholeFrom } from '../files/files';
import { otlpJson, otlpServer, sendOtlp } from '../exporters/otlp';
import { prometheusText } from '../exporters/prometheus';
import type { Metric } from '../protocol/metrics';
import type { Verdicts } from '../protocol/verdicts';
import type { RecordingArguments } from './arguments/arguments';
import { notify } from './output/output';

const INTERVAL_MS = 15_000;
const PATIENCE_MS = 10_000;
/** The end of the recording waits for the last ones no longer; a second more where a file system hangs. */
const LAST_MS = 2_000;

type MetricsTargets = Pick<RecordingArguments, 'otlp' | 'prometheus'>;

/** One sentence where metrics are to go to what is no server, else null; whether any is there does not matter. */
export function metricsProblem({ otlp }: MetricsTargets): string | null {
  const server = otlp === null ? null : otlpServer(otlp, process.env, '');
  return server !== null && 'error' in server ? server.error : null;
}

/** Sends what is measured of a recording at each interval, to its targets. A target that takes nothing is not waited for. */
export class MetricsSender {
  private readonly ways: Way[];
  private readonly timer: NodeJS.Timeout | undefined;
  private readonly lineText = createLineReader();
  private verdicts: Verdicts | null = null;
  private dueMs = 0;

  constructor(
    targets: MetricsTargets,
    private readonly session: NativeTrace,
    beginMs: number,
  ) {
    this.ways = waysOf(targets, beginMs);
    const everyMs = /^[1-9]\d{2,7}$/.exec(process.env.OTEL_METRIC_EXPORT_INTERVAL ?? '')?.[0] ?? INTERVAL_MS;
    if (this.ways.length > 0) this.timer = setInterval(() => this.send('next'), Number(everyMs));
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Sends those of now, and then no more. */
  async end(): Promise<void> {
    this.stop();
    const late = new Promise(done => setTimeout(done, LAST_MS + 1_000));
    await Promise.race([Promise.all(this.send('last')), late]);
    this.ways.forEach(way => way.close());
  }

  private send(which: 'next' | 'last'): Promise<void>[] {
    if (this.ways.length === 0) return [];
    const fromMs = performance.now();
    // As `firstLeaks` does: where judging takes long, a verdict serves for long.
    if (this.verdicts === null || which === 'last' || fromMs >= this.dueMs) {
      this.verdicts = verdictsOf(this.session, this.lineText);
      this.dueMs = performance.now() + servesMs(performance.now() - fromMs, fromMs);
    }
    const metrics = readMetrics(this.session, this.verdicts);
    return metrics.length > 0 ? this.ways.map(way => way[which](metrics)) : [];
  }
}

/** A place that metrics go to, one time after the other; how that went is printed. Nothing here rejects. */
class Way {
  private tries = 0;
  private failures = 0;
  private underWay: Promise<void> | null = null;
  private limit = new AbortController();

  constructor(
    private readonly name: string,
    private readonly put: (metrics: readonly Metric[], signal: AbortSignal) => Promise<void>,
  ) {}

  /** Unless some are still under way. */
  async next(metrics: readonly Metric[]): Promise<void> {
    this.underWay ??= this.tryOnce(metrics, PATIENCE_MS);
    await this.underWay;
  }

  /** What is under way is given up for these. */
  async last(metrics: readonly Metric[]): Promise<void> {
    this.limit.abort(null);
    await this.underWay;
    await this.tryOnce(metrics, LAST_MS);
  }

  close(): void {
    if (this.failures > 0 && this.tries > 1)
      notify(`Metrics did not reach ${this.name} ${this.failures} of ${this.tries} times.`);
  }

  private async tryOnce(metrics: readonly Metric[], limitMs: number): Promise<void> {
    const { signal } = (this.limit = new AbortController());
    const timer = setTimeout(() => this.limit.abort(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
    try {
      await this.put(metrics, signal);
      this.tries++;
    } catch (error) {
      const reason: unknown = signal.aborted ? signal.reason : error;
      if (reason !== null) this.tries++;
      if (reason !== null && this.failures++ === 0) notify(`Metrics did not reach ${this.name}: ${whyOf(reason)}.`);
    }
    clearTimeout(timer);
    this.underWay = null;
  }
}

function waysOf({ otlp, prometheus: file }: MetricsTargets, beginMs: number): Way[] {
  const ways: Way[] = [];
  const server = otlp === null ? null : otlpServer(otlp, process.env, randomUUID());
  if (server !== null && !('error' in server)) {
    // Not what stands behind it: that may be a secret.
    const name = `${server.url.origin}${server.url.pathname}`;
    const json = (metrics: readonly Metric[]): string => otlpJson(metrics, server.resource, beginMs, Date.now());
    ways.push(new Way(name, (metrics, signal) => sendOtlp(server, json(metrics), signal)));
  }
  if (file !== null)
    ways.push(new Way(file, metrics => writeWholeFrom(file, Readable.from([Buffer.from(prometheusText(metrics))]))));
  return ways;
}

/** What `fetch` fails of is behind its error; where a name has several addresses, only as a code. */
function whyOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return reasonOf(cause) || String((cause as NodeJS.ErrnoException).code);
}
