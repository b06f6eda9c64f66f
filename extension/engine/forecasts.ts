// Forecasts of a trace, made in a thread of their own: the replay of a long run takes half a minute, and is made once.
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { t } from '@vscode/l10n';
import type { TraceSession } from '../native/traceSession';
import type { ForecastAnswer, ForecastQuery } from '../protocol/requests/forecastRequests';
import { formatCount } from '../text/format';

/** A request is answered by then, if only with what is waited for. */
const PATIENCE_MS = 500;

/** What the thread is given. */
export interface ForecastThread {
  dist: string;
  path: string;
}
/** What it sends for each query. */
export type Forecasted = Omit<ForecastAnswer, 'working'>;

export class Forecasts {
  private worker: Worker | null = null;
  /** The events that the thread has read. */
  private revision = -1;
  private latest: { key: string; answer: Promise<Forecasted> } | null = null;
  /** By the order of the queries that the thread has. */
  private waiting: ((answer: Forecasted) => void)[] = [];

  constructor(
    private readonly dist: string,
    private readonly session: Pick<TraceSession, 'native' | 'path'>,
  ) {}

  /** The forecast, or what is waited for. The thread gets the newest query when it is done with the one before. */
  async answer(query: ForecastQuery): Promise<ForecastAnswer> {
    const { native } = this.session;
    if (this.revision !== native.revision()) this.cancel();
    this.revision = native.revision();
    const key = JSON.stringify(query);
    if (this.latest?.key !== key) {
      const before = await Promise.race([this.latest?.answer, soon()]);
      if (before === null) return this.working();
      if (this.latest?.key !== key) this.latest = { key, answer: this.make(query) };
    }
    const made = await Promise.race([this.latest.answer, soon()]);
    return made === null ? this.working() : { working: false, ...made };
  }

  /** Ends the thread, and with it what it knows. */
  cancel(sentence = t('The forecast was stopped.')): void {
    void this.worker?.terminate();
    this.worker = null;
    this.latest = null;
    for (const done of this.waiting.splice(0)) done({ sentence, forecast: null });
  }

  private working(): ForecastAnswer {
    const tensors = this.session.native.info().totals.filter(({ layer }) => layer === 'tensor');
    const most = Math.max(0, ...tensors.map(({ allocations }) => allocations));
    return { working: true, sentence: t('Replaying {0} allocations…', formatCount(most)), forecast: null };
  }

  private make(query: ForecastQuery): Promise<Forecasted> {
    const worker = (this.worker ??= this.start());
    worker.postMessage(query);
    return new Promise(done => this.waiting.push(done));
  }

  private start(): Worker {
    const workerData: ForecastThread = { dist: this.dist, path: this.session.path };
    const worker = new Worker(join(this.dist, 'engine.js'), { argv: process.argv.slice(2), workerData });
    worker.on('message', (answer: Forecasted) => this.waiting.shift()?.(answer));
    worker.on('error', ({ message }) => this.cancel(t('The forecast failed: {0}', message)));
    return worker;
  }
}

const soon = (): Promise<null> => new Promise(resolve => setTimeout(() => resolve(null), PATIENCE_MS));
