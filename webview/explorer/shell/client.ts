// Requests to the extension host: each is answered, rejected with the host's sentence, or given up after a while.
import { t } from '@vscode/l10n';
import { BROWSER_TIMERS, type Timers } from '../common/timers';
import type { Method, Params, Result, ToHost, ToPage } from '../../../extension/protocol/requests/messages';

type Response = Extract<ToPage, { type: 'response' }>;
interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  /** null: it is waited for as long as it takes. */
  timer: number | null;
}

/** Requests that the user answers, in a dialog of the editor: that takes as long as it takes. */
const DIALOGS: readonly Method[] = ['openOtherTrace'];

export class RequestClient {
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;

  /** @param timeoutMs a host that does not answer for so long (milliseconds) has lost the request */
  constructor(
    private readonly post: (message: ToHost) => void,
    private readonly timeoutMs = 20_000,
    private readonly timers: Timers = BROWSER_TIMERS,
  ) {}

  /** Resolves with the host's answer; rejects with an Error whose message is one sentence. */
  request<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    const id = ++this.lastId;
    return new Promise<Result<M>>((resolve, reject) => {
      const timer = DIALOGS.includes(method) ? null : this.timers.set(() => this.giveUp(id, method), this.timeoutMs);
      this.waiting.set(id, { resolve: value => resolve(value as Result<M>), reject, timer });
      this.post({ type: 'request', id, method, params } as ToHost);
    });
  }

  /** Takes a response, also one that came after its time was up. */
  accept(response: Response): void {
    const waiting = this.removeWaiting(response.id);
    if (response.ok) waiting?.resolve(response.value);
    else waiting?.reject(new Error(response.error));
  }

  private giveUp(id: number, method: Method): void {
    const seconds = Math.round(this.timeoutMs / 1000);
    const sentence = t('The extension did not respond to "{0}" within {1} seconds.', method, seconds);
    this.removeWaiting(id)?.reject(new Error(sentence));
  }

  private removeWaiting(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    if (!waiting) return undefined;
    this.waiting.delete(id);
    if (waiting.timer !== null) this.timers.clear(waiting.timer);
    return waiting;
  }
}
