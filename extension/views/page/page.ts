import * as vscode from 'vscode';
import { fixedIn } from '../../editor/fixEdit';
import { nameCells } from '../../protocol/notebookCells';
import type { HostRequests, PageMethod, PageParams, TraceChange } from '../../protocol/requests/engineRequests';
import type { SessionView, ToHost, ToPage } from '../../protocol/requests/messages';
import { Outbox } from '../../protocol/requests/outbox';
import { checkMessages, type Checked } from '../../protocol/requests/validate';
import { fillPage } from './fill';
import { hostAnswers, shownTrace } from './hostAnswers';
import type { PageModel, PageTools } from './model';
import { PageNotifier, type Target } from './pageNotifier';

type Request = Extract<ToHost, { type: 'request' }>;

let lastId = 0;

/** One webview with the page, until that goes: answers its requests, and notifies it of changes while it is visible. */
export class Page implements vscode.Disposable {
  private ready = false;
  private disposed = false;
  private readonly outbox: Outbox<ToPage>;
  private readonly notifier: PageNotifier;
  private readonly answers: ReturnType<typeof hostAnswers>;
  private readonly id = ++lastId;
  private readonly subscriptions: vscode.Disposable[];
  /** As the last view had them. */
  private fixed: string[] = [];

  constructor(
    private readonly place: vscode.WebviewView | vscode.WebviewPanel,
    private readonly model: PageModel,
    private readonly tools: PageTools,
  ) {
    const { dist, lines } = tools;
    const { webview } = place;
    this.answers = hostAnswers(model, lines);
    this.outbox = new Outbox(
      packet => {
        if (!this.disposed) void webview.postMessage(packet);
      },
      run => setImmediate(run),
    );
    const source = {
      revision: () => model.shown?.facts?.info.revision ?? -1,
      view: () => this.view(),
      judged: () => model.shown?.facts?.findings,
      late: (late: boolean) => model.setLate(this.id, late),
      answered: () => model.answered(this.id),
    };
    this.notifier = new PageNotifier(source, message => this.post(message));
    this.subscriptions = [
      place.onDidDispose(() => this.dispose()),
      'onDidChangeVisibility' in place
        ? place.onDidChangeVisibility(() => this.push())
        : place.onDidChangeViewState(() => this.push()),
      webview.onDidReceiveMessage(message => this.receive(message)),
      model.onDidChange(change => this.push(change)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.push()),
      lines.onDidEdit(() => this.onEdit()),
    ];
    fillPage(webview, dist, 'explorer', vscode.l10n.t('Leak Explorer'));
  }

  get visible(): boolean {
    return this.place.visible;
  }

  private view(): SessionView {
    this.fixed = fixedIn(this.model.shown, this.tools.lines);
    return { ...this.model.view(), fixed: this.fixed };
  }

  /** Most edits fix nothing. */
  private onEdit(): void {
    if (fixedIn(this.model.shown, this.tools.lines).join() !== this.fixed.join()) this.push();
  }

  /** Nothing travels to a page that is hidden; when it is visible again it is notified at once. */
  private push(change: TraceChange = 'state'): void {
    if (!this.ready || !this.place.visible) return;
    if (change === 'events') this.notifier.events();
    else this.notifier.changed();
    this.notifier.sendTarget();
  }

  /** Shows the target, at once or when the page is visible. */
  show(target: Target): void {
    this.notifier.queue(target);
    this.push();
  }

  private post(message: ToPage): void {
    this.outbox.post(message);
  }

  private receive(packet: unknown): void {
    for (const checked of checkMessages(packet)) this.handleMessage(checked);
  }

  private handleMessage(checked: Checked): void {
    if (!checked.ok) {
      this.tools.log.warn(`message of the page refused: ${checked.error}`);
      if (checked.id !== null) this.post({ type: 'response', id: checked.id, ok: false, error: checked.error });
    } else if (checked.message.type === 'ready') {
      this.ready = true;
      this.notifier.begin();
      this.push();
    } else {
      this.notifier.acknowledged();
      const request = checked.message;
      // The bars of the cards are requested whenever figures are.
      if (request.method === 'ledger') this.notifier.figuresRequested();
      void this.answer(request).then(response => {
        this.post(response);
        if (request.method === 'ledger' && this.ready && this.place.visible) this.notifier.figuresAnswered();
      });
    }
  }

  private async answer({ id, method, params }: Request): Promise<ToPage> {
    try {
      if (this.model.shown?.facts) nameCells(this.model.shown.facts.info);
      const own = this.answers[method as keyof HostRequests] as ((of: typeof params) => unknown) | undefined;
      const value = await (own ? own(params) : this.requestEngine(method as PageMethod, params as PageParams));
      return { type: 'response', id, ok: true, value };
    } catch (error) {
      return { type: 'response', id, ok: false, error: error instanceof Error ? error.message : String(error) };
    }
  }

  private requestEngine(method: PageMethod, params: PageParams): Promise<unknown> {
    const shown = shownTrace(this.model);
    const traces = this.model.traces();
    const own = traces.find(({ trace }) => trace === shown.id) ?? { title: shown.title };
    const others = traces.filter(({ trace }) => trace !== shown.id);
    return shown.request('answer', { ...own, method, params, others });
  }

  dispose(): void {
    this.disposed = true;
    for (const subscription of this.subscriptions) subscription.dispose();
  }
}
