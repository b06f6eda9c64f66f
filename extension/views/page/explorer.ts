import type * as vscode from 'vscode';
import type { ComparePoint } from '../../protocol/requests/compareRequests';
import type { PageTools } from './model';
import { Page } from './page';
import type { Sessions } from '../session/sessions';
import { modelOf } from './windowModel';

/** The Leak Explorer in the side panel: shows one of the sessions. */
export class ExplorerView implements vscode.WebviewViewProvider, vscode.Disposable {
  private page: Page | null = null;
  /** To be compared once there is a page. */
  private waiting: [ComparePoint, ComparePoint] | null = null;
  /** To be shown once there is a page. */
  private finding: string | null = null;

  constructor(
    private readonly sessions: Sessions,
    private readonly tools: PageTools,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.page?.dispose();
    const page = new Page(view.webview, () => view.visible, modelOf(this.sessions, true), this.tools);
    this.page = page;
    if (this.waiting) page.compare(...this.waiting);
    this.waiting = null;
    if (this.finding !== null) page.showFinding(this.finding);
    this.finding = null;
    view.onDidChangeVisibility(() => page.push());
    view.onDidDispose(() => {
      page.dispose();
      if (this.page === page) this.page = null;
    });
  }

  compare(a: ComparePoint, b: ComparePoint): void {
    if (this.page === null) this.waiting = [a, b];
    else this.page.compare(a, b);
  }

  /** Shows the card of a finding, once there is a page. */
  showFinding(id: string): void {
    if (this.page === null) this.finding = id;
    else this.page.showFinding(id);
  }

  dispose(): void {
    this.page?.dispose();
  }
}
