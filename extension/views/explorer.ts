import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { openLine } from '../editor/openLine';
import type { Method, ToHost, ToPage } from '../protocol/messages';
import { checkMessage } from '../protocol/validate';
import type { TraceController } from './controller';
import { pageHtml } from './html';

type Request = Extract<ToHost, { type: 'request' }>;

/** The Leak Explorer in the side panel: answers the page's requests and tells it of changes while it is seen. */
export class ExplorerView implements vscode.WebviewViewProvider, vscode.Disposable {
  static readonly id = 'gpuMemoryTrace.explorer';
  private view: vscode.WebviewView | null = null;
  private ready = false;
  private revision = -1;
  private readonly subscriptions: vscode.Disposable[] = [];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly controller: TraceController,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions.push(
      controller.onDidChange(() => this.push()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.push()),
    );
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.ready = false;
    const dist = vscode.Uri.joinPath(this.extension, 'dist', 'webview');
    view.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    view.webview.onDidReceiveMessage(message => void this.receive(view.webview, message));
    view.onDidChangeVisibility(() => this.push());
    view.onDidDispose(() => {
      if (this.view === view) this.view = null;
    });
    const address = (file: string): string => view.webview.asWebviewUri(vscode.Uri.joinPath(dist, file)).toString();
    view.webview.html = pageHtml({
      nonce: randomBytes(16).toString('hex'),
      cspSource: view.webview.cspSource,
      language: vscode.env.language,
      title: vscode.l10n.t('Leak Explorer'),
      script: address('explorer.js'),
      styles: [address('codicon.css'), address('explorer.css')],
    });
  }

  /** Nothing travels to a page that is hidden; when it is seen again it is told at once. */
  private push(): void {
    if (this.view === null || !this.ready || !this.view.visible) return;
    const session = this.controller.view();
    this.post({ type: 'session', session });
    const revision = session.info?.revision ?? -1;
    if (revision !== this.revision) this.post({ type: 'changed', revision });
    this.revision = revision;
  }

  private post(message: ToPage): void {
    void this.view?.webview.postMessage(message);
  }

  private async receive(webview: vscode.Webview, message: unknown): Promise<void> {
    const checked = checkMessage(message);
    if (!checked.ok) {
      this.log.warn(`message of the page refused: ${checked.error}`);
      if (checked.id !== null)
        void webview.postMessage({ type: 'response', id: checked.id, ok: false, error: checked.error });
      return;
    }
    if (checked.message.type === 'ready') {
      this.ready = true;
      this.revision = -1;
      this.push();
      return;
    }
    void webview.postMessage(await this.answer(checked.message));
  }

  private async answer(request: Request): Promise<ToPage> {
    try {
      return { type: 'response', id: request.id, ok: true, value: await this.handle(request) };
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      return { type: 'response', id: request.id, ok: false, error: sentence };
    }
  }

  private handle(request: Request): unknown {
    switch (request.method) {
      case 'sites':
        return this.trace().sites(request.params);
      case 'site':
        return this.trace().site(request.params.id);
      case 'timeline': {
        const trace = this.trace();
        return request.params.series.map(query => trace.timeline(query));
      }
      case 'openLine':
        return openLine(request.params.file, request.params.line, this.controller.cwd);
      case 'setRecording':
        return this.controller.setRecording(request.params.on);
      case 'start':
      case 'stop':
      case 'save':
        return void vscode.commands.executeCommand(COMMANDS[request.method]);
    }
  }

  private trace(): NonNullable<TraceController['session']>['native'] {
    const session = this.controller.session;
    if (session === null) throw new Error(vscode.l10n.t('No trace is open.'));
    return session.native;
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }
}

const COMMANDS: Record<Extract<Method, 'start' | 'stop' | 'save'>, string> = {
  start: 'gpuMemoryTrace.start',
  stop: 'gpuMemoryTrace.stop',
  save: 'gpuMemoryTrace.saveTrace',
};
