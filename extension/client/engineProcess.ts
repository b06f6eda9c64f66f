// The extension host's side of the engine: starts its process, sends it requests, and starts another one where it dies.
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { t } from '@vscode/l10n';
import type {
  Engine,
  EngineMethod,
  EngineParams,
  EngineResult,
  FromEngine,
  Opening,
  ToEngine,
  TraceChange,
  TraceFacts,
} from '../protocol/requests/engineRequests';
import type { Batch } from '../protocol/requests/outbox';
import { ownArrays } from './ownArrays';

/** So many deaths in so long a time are no accident. */
const MOST_DEATHS = 3;
const DEATHS_MS = 60_000;

/** The viewers of a trace. */
export interface TraceListener {
  /** What opens the trace again in a new process. */
  opening(): Opening;
  news(facts: Partial<TraceFacts>, change?: TraceChange): void;
  /** It is not open any more, for this reason. */
  lost(sentence: string): void;
}

export interface EngineListener {
  log(text: string): void;
  /** The process died; one sentence on what that means. `over`: no other one is started. */
  died(sentence: string, over: boolean): void;
}

interface Waiting {
  question: ToEngine;
  /** A process has it; one that it had before died. */
  sent: boolean;
  again: boolean;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Starts the engine that lies in `dist`; `texts`: a file with those of the window's language. */
export function startEngine(dist: string, texts: string | undefined): ChildProcess {
  return fork(join(dist, 'engine.js'), [dist, ...(texts === undefined ? [] : [texts])], {
    execArgv: [],
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** One engine for a window, started at the first request. */
export class EngineProcess implements Engine {
  private child: ChildProcess | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private readonly listeners = new Map<number, TraceListener>();
  private readonly exports = new Map<number, (done: number) => void>();
  private deaths: number[] = [];
  /** Why it is not started again. */
  private over: string | null = null;
  private lastId = 0;
  private planned = false;

  constructor(
    private readonly start: () => ChildProcess,
    private readonly listener: EngineListener,
  ) {}

  /** Of the process; undefined: there is none. */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** `arrived` gets the answer before any message behind it, which one that awaits the promise does not. */
  request<M extends EngineMethod>(
    method: M,
    params: EngineParams<M>,
    arrived?: (value: EngineResult<M>) => void,
  ): Promise<EngineResult<M>> {
    if (this.over !== null) return Promise.reject(new Error(this.over));
    return new Promise((resolve, reject) => {
      const question = { id: ++this.lastId, method, params } as ToEngine;
      const taken = (value: unknown): void => {
        arrived?.(value as EngineResult<M>);
        resolve(value as EngineResult<M>);
      };
      this.waiting.set(question.id, { question, sent: false, again: false, resolve: taken, reject });
      this.plan();
    });
  }

  /** Opens a trace; until `close` it is opened again in each new process. What is known of it then is its first news. */
  async open(listener: TraceListener): Promise<void> {
    const opening = listener.opening();
    this.listeners.set(opening.trace, listener);
    try {
      await this.request('open', opening, facts => listener.news(facts));
    } catch (error) {
      this.listeners.delete(opening.trace);
      throw error;
    }
  }

  close(trace: number): void {
    if (this.listeners.delete(trace)) this.request('close', { trace }).catch(() => undefined);
  }

  /** Exports a trace as `exportTrace` does; `progress` gets the part that is done, 0 to 1. */
  async exportTrace(
    of: Omit<EngineParams<'exportTrace'>, 'number'>,
    signal: AbortSignal,
    progress: (done: number) => void,
  ): Promise<boolean> {
    const number = ++this.lastId;
    this.exports.set(number, progress);
    signal.addEventListener('abort', () => void this.request('stopExport', { number }).catch(() => undefined));
    try {
      return await this.request('exportTrace', { ...of, number });
    } finally {
      this.exports.delete(number);
    }
  }

  /** Sends all requests of one turn in one packet: their answers describe the same moment. */
  private plan(): void {
    if (this.planned) return;
    this.planned = true;
    setImmediate(() => {
      this.planned = false;
      const unsent = [...this.waiting.values()].filter(({ sent }) => !sent);
      if (unsent.length === 0 || this.over !== null) return;
      for (const one of unsent) one.sent = true;
      this.child ??= this.begin();
      this.child.send(unsent.map(({ question }) => question));
    });
  }

  private begin(): ChildProcess {
    const child = this.start();
    let stderr = '';
    child.stderr?.on('data', (text: Buffer) => (stderr = `${stderr}${text.toString()}`.slice(-4096)));
    child.on('message', (packet: FromEngine | Batch<FromEngine>) => this.receive(packet));
    let ended = false;
    const end = (how: string): void => {
      if (ended || child !== this.child) return;
      ended = true;
      if (stderr !== '') this.listener.log(stderr);
      this.ended(how);
    };
    // If it has ended, its signal explains more than what could not be sent to it.
    child.on('error', error => child.pid === undefined && end(error.message));
    child.on('exit', (status, signal) => end(signal ?? t('status {0}', status ?? '?')));
    return child;
  }

  private receive(packet: FromEngine | Batch<FromEngine>): void {
    for (const message of packet.type === 'batch' ? packet.messages : [packet]) this.take(message);
  }

  private take(message: FromEngine): void {
    if (message.type === 'log') return this.listener.log(message.text);
    if (message.type === 'progress') return this.exports.get(message.number)?.(message.done);
    if (message.type === 'news') return this.listeners.get(message.trace)?.news(message.facts, message.change);
    const request = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.ok) request?.resolve(ownArrays(message.value));
    else request?.reject(new Error(message.sentence));
  }

  /** Opens the traces again and sends the pending requests once more. Only once: a request may be what crashed the process. */
  private ended(how: string): void {
    this.child = null;
    const now = Date.now();
    this.deaths = [...this.deaths.filter(at => now - at < DEATHS_MS), now];
    if (this.deaths.length >= MOST_DEATHS) return this.giveUp(how);
    const died = t('The process that reads traces ended ({0}) and was restarted. Traced programs keep running.', how);
    this.listener.died(died, false);
    const unanswered = [...this.waiting.values()].filter(({ sent }) => sent);
    for (const one of unanswered) this.waiting.delete(one.question.id);
    const opened = new Set(unanswered.map(({ question }) => (question.method === 'open' ? question.params.trace : 0)));
    for (const [trace, listener] of this.listeners) if (!opened.has(trace)) this.openAgain(listener);
    for (const one of unanswered) {
      if (one.again) one.reject(new Error(died));
      else this.waiting.set(one.question.id, { ...one, sent: false, again: true });
    }
    this.plan();
  }

  private openAgain(listener: TraceListener): void {
    this.request('open', listener.opening(), facts => listener.news(facts, 'state')).catch((error: Error) =>
      listener.lost(error.message),
    );
  }

  private giveUp(how: string): void {
    const over = t(
      'The process that reads traces ended {0} times within a minute ({1}) and was not restarted. Reload the window to try again. Traced programs keep running.',
      MOST_DEATHS,
      how,
    );
    this.over = over;
    this.listener.died(over, true);
    for (const { reject } of this.waiting.values()) reject(new Error(over));
    this.waiting.clear();
    for (const listener of this.listeners.values()) listener.lost(over);
    this.listeners.clear();
  }

  /** The process ends with it. */
  dispose(): void {
    const { child } = this;
    this.child = null;
    this.over = t('The window is being closed.');
    if (child?.connected) child.disconnect();
  }
}
