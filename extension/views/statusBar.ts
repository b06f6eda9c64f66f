import * as vscode from 'vscode';
import { listedLayer } from '../analysis/snapshot';
import { formatBytes } from '../protocol/format';
import type { TraceInfo } from '../protocol/trace';
import type { TraceController } from './controller';

/** Live bytes of the traced program, in the status bar; a click shows the panel. */
export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('gpuMemoryTrace.live', vscode.StatusBarAlignment.Left, 10);
  private readonly subscription: vscode.Disposable;

  constructor(private readonly controller: TraceController) {
    this.item.name = vscode.l10n.t('GPU Memory');
    this.item.command = 'gpuMemoryTrace.showPanel';
    this.subscription = controller.onDidChange(() => this.update());
  }

  private update(): void {
    const { phase, info, title, recording } = this.controller.view();
    if (phase === 'empty' || phase === 'failed') {
      this.item.hide();
      return;
    }
    const icon = phase === 'ended' ? 'pass' : recording ? 'pulse' : 'debug-pause';
    const text = phase === 'starting' || info === null ? vscode.l10n.t('GPU') : formatBytes(liveBytes(info));
    this.item.text = `$(${phase === 'starting' ? 'loading~spin' : icon}) ${text}`;
    this.item.tooltip = vscode.l10n.t('GPU memory that {0} holds', title);
    this.item.show();
  }

  dispose(): void {
    this.subscription.dispose();
    this.item.dispose();
  }
}

function liveBytes(info: TraceInfo): number {
  const layer = listedLayer(info.totals);
  return info.totals.reduce((sum, total) => (total.layer === layer ? sum + total.liveBytes : sum), 0);
}
