import * as vscode from 'vscode';
import type { ComparePoint } from '../../protocol/requests/compareRequests';
import { openOther } from '../commands/compareCommand';
import { Page, type Button, type PageModel, type PageTools } from './page';
import type { Sessions } from '../session/sessions';

const COMMANDS: Record<Button | 'detach', string> = {
  start: 'gpuMemoryTrace.start',
  stop: 'gpuMemoryTrace.stop',
  detach: 'gpuMemoryTrace.detach',
  save: 'gpuMemoryTrace.saveTrace',
  mark: 'gpuMemoryTrace.mark',
  openWide: 'gpuMemoryTrace.openWide',
};

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

/** The shown session, for a page that follows the choice of it. */
export function modelOf(sessions: Sessions, canWiden: boolean): PageModel {
  return {
    onDidChange: sessions.onDidChangeShown,
    get session() {
      return sessions.session;
    },
    get verdicts() {
      return sessions.verdicts;
    },
    get cwd() {
      return sessions.cwd;
    },
    view: () => ({ ...sessions.view(), canWiden }),
    setRecording: on => sessions.shown?.setRecording(on),
    press: button => {
      const command = button === 'stop' && sessions.shown?.attached ? 'detach' : button;
      void vscode.commands.executeCommand(COMMANDS[command]);
    },
    showSession: id => sessions.show(id),
    closeSession: id => sessions.close(id),
    others: () => sessions.others(),
    openOther: () => openOther(sessions),
  };
}
