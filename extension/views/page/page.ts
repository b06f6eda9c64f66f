import * as vscode from 'vscode';
import { nameCells } from '../../protocol/cells';
import type { ToHost, ToPage } from '../../protocol/requests/messages';
import { Outbox } from '../../protocol/requests/outbox';
import { checkMessages, type Checked } from '../../protocol/requests/validate';
import type { Answers } from './answers/answers';
import { compareAnswers } from './answers/compare';
import { sessionAnswers } from './answers/session';
import { timelineAnswers } from './answers/timeline';
import { traceAnswers } from './answers/trace';
import { verdictAnswers } from './answers/verdicts';
import { fillPage } from './fill';
import type { PageModel, PageTools } from './model';
import { PageNews, type Wanted } from './pageNews';
import type { SessionChange } from '../session/openTrace';

type Request = Extract<ToHost, { type: 'request' }>;

/** One webview with the page, until that goes: answers its requests, and tells it of changes while it is seen. */
export class Page implements vscode.Disposable {
  private ready = false;
  private disposed = false;
  private readonly outbox: Outbox<ToPage>;
  private readonly news: PageNews;
  private readonly answers: Answers;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly place: vscode.WebviewView | vscode.WebviewPanel,
    private readonly model: PageModel,
    private readonly tools: PageTools,
  ) {
    const { dist, lines } = tools;
    const { webview } = place;
    this.answers = {
      ...traceAnswers(model),
      ...timelineAnswers(model),
      ...compareAnswers(model),
      ...sessionAnswers(model, lines),
      ...verdictAnswers(model, lines),
    };
    this.outbox = new Outbox(
      packet => {
        if (!this.disposed) void webview.postMessage(packet);
      },
      run => setImmediate(run),
    );
    const source = {
      revision: () => model.shown?.trace?.native.revision() ?? -1,
      view: () => model.view(),
      late: (late: boolean) => model.shown?.trace?.awaits(this, late),
    };
    this.news = new PageNews(source, message => this.post(message));
    this.subscriptions = [
      place.onDidDispose(() => this.dispose()),
      'onDidChangeVisibility' in place
        ? place.onDidChangeVisibility(() => this.push())
        : place.onDidChangeViewState(() => this.push()),
      webview.onDidReceiveMessage(message => this.receive(message)),
      model.onDidChange(change => this.push(change)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.push()),
    ];
    fillPage(webview, dist, 'explorer', vscode.l10n.t('Leak Explorer'));
  }

  /** Nothing travels to a page that is hidden; when it is seen again it is told at once. */
  private push(change: SessionChange = 'state'): void {
    if (!this.ready || !this.place.visible) return;
    if (change === 'events') this.news.events();
    else this.news.changed();
    this.news.tellWanted();
  }

  /** Shows what is wanted, at once or when the page is seen. */
  show(wanted: Wanted): void {
    this.news.want(wanted);
    this.push();
  }

  private post(message: ToPage): void {
    this.outbox.post(message);
  }

  private receive(packet: unknown): void {
    const messages = checkMessages(packet);
    for (const checked of messages) this.handleMessage(checked);
    // The bars of the cards are asked for whenever figures are.
    const figures = messages.some(one => one.ok && one.message.type === 'request' && one.message.method === 'ledger');
    if (figures && this.ready && this.place.visible) this.news.asked();
  }

  private handleMessage(checked: Checked): void {
    if (!checked.ok) {
      this.tools.log.warn(`message of the page refused: ${checked.error}`);
      if (checked.id !== null) this.post({ type: 'response', id: checked.id, ok: false, error: checked.error });
    } else if (checked.message.type === 'ready') {
      this.ready = true;
      this.news.begin();
      this.push();
    } else {
      this.news.heard();
      void this.answer(checked.message).then(response => this.post(response));
    }
  }

  private async answer(request: Request): Promise<ToPage> {
    try {
      const trace = this.model.shown?.trace;
      if (trace) nameCells(trace.native.info());
      const answer = this.answers[request.method] as (params: Request['params']) => unknown;
      return { type: 'response', id: request.id, ok: true, value: await answer(request.params) };
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      return { type: 'response', id: request.id, ok: false, error: sentence };
    }
  }

  dispose(): void {
    this.disposed = true;
    for (const subscription of this.subscriptions) subscription.dispose();
  }
}
