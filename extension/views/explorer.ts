import * as vscode from 'vscode';
import type { TraceController } from './controller';
import { Page, type PageModel } from './page';

const COMMANDS = {
  start: 'gpuMemoryTrace.start',
  stop: 'gpuMemoryTrace.stop',
  detach: 'gpuMemoryTrace.detach',
  save: 'gpuMemoryTrace.saveTrace',
};

/** The Leak Explorer in the side panel: shows the trace that the controller follows. */
export class ExplorerView implements vscode.WebviewViewProvider, vscode.Disposable {
  static readonly id = 'gpuMemoryTrace.explorer';
  private page: Page | null = null;

  constructor(
    private readonly dist: vscode.Uri,
    private readonly controller: TraceController,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.page?.dispose();
    const page = new Page(view.webview, () => view.visible, modelOf(this.controller), this.log, this.dist);
    this.page = page;
    view.onDidChangeVisibility(() => page.push());
    view.onDidDispose(() => page.dispose());
  }

  dispose(): void {
    this.page?.dispose();
  }
}

function modelOf(controller: TraceController): PageModel {
  return {
    onDidChange: controller.onDidChange,
    get session() {
      return controller.session;
    },
    get cwd() {
      return controller.cwd;
    },
    view: () => controller.view(),
    setRecording: on => controller.setRecording(on),
    press: button => {
      const command = button === 'stop' && controller.attached ? 'detach' : button;
      void vscode.commands.executeCommand(COMMANDS[command]);
    },
  };
}
