import type * as vscode from 'vscode';
import type { PageTools } from './model';
import { Page } from './page';
import type { Target } from './pageNotifier';
import type { Sessions } from '../session/sessions';
import { modelOf } from './windowModel';

/** The Leak Explorer in the side panel: shows one of the sessions. */
export class ExplorerView implements vscode.WebviewViewProvider, vscode.Disposable {
  private page: Page | null = null;
  /** To be shown once there is a page. */
  private waiting: Target | null = null;

  constructor(
    private readonly sessions: Sessions,
    private readonly tools: PageTools,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.page?.dispose();
    const page = new Page(view, modelOf(this.sessions, true), this.tools);
    this.page = page;
    if (this.waiting !== null) page.show(this.waiting);
    this.waiting = null;
    view.onDidDispose(() => {
      if (this.page === page) this.page = null;
    });
  }

  get visible(): boolean {
    return this.page?.visible ?? false;
  }

  show(target: Target): void {
    if (this.page === null) this.waiting = target;
    else this.page.show(target);
  }

  dispose(): void {
    this.page?.dispose();
  }
}
