import * as vscode from 'vscode';
import type { ComparePoint } from '../../protocol/requests/compareRequests';
import { WIDE } from '../contributedNames';
import type { PageTools } from './model';
import { Page } from './page';
import type { Sessions } from '../session/sessions';
import { modelOf } from './windowModel';

/** The page of the shown session as a tab of the active group, with more room than in the side panel. One at a time. */
export class WidePanel implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private panel: vscode.WebviewPanel | null = null;
  private page: Page | null = null;

  constructor(
    private readonly sessions: Sessions,
    private readonly tools: PageTools,
    private readonly isShownBeside: () => boolean,
  ) {}

  /** It is seen. */
  get visible(): boolean {
    return this.panel?.visible ?? false;
  }

  /** It is in front, and the keyboard leads to it. */
  get active(): boolean {
    return this.panel?.active ?? false;
  }

  show(): void {
    if (this.panel !== null) return this.panel.reveal();
    const title = vscode.l10n.t('Leak Explorer');
    this.fill(vscode.window.createWebviewPanel(WIDE, title, vscode.ViewColumn.Active));
  }

  compare(a: ComparePoint): void {
    this.page?.show({ type: 'compare', a });
  }

  /** The window was reloaded: the page comes back with what the user had chosen on it. */
  deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.panel?.dispose();
    this.fill(panel);
    return Promise.resolve();
  }

  private fill(panel: vscode.WebviewPanel): void {
    const page = new Page(panel, modelOf(this.sessions, false), this.tools);
    panel.iconPath = new vscode.ThemeIcon('pulse');
    panel.onDidDispose(() => {
      if (this.panel !== panel) return;
      this.panel = this.page = null;
      if (!this.isShownBeside()) this.sessions.shown?.leaveMoment();
    });
    this.panel = panel;
    this.page = page;
  }

  dispose(): void {
    this.page?.dispose();
  }
}
