import * as vscode from 'vscode';
import { formatBytes } from '../../text/format';
import type { Session } from './session';
import { sessionIcon } from './sessionWords';
import type { Sessions } from './sessions';

/** Live bytes of the program that the panel shows, in the status bar; a click shows the panel. */
export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('gpuMemoryTrace.live', vscode.StatusBarAlignment.Left, 10);
  private readonly subscription: vscode.Disposable;
  private shown = '';

  constructor(private readonly sessions: Sessions) {
    this.item.name = vscode.l10n.t('GPU Memory');
    this.item.command = 'gpuMemoryTrace.showPanel';
    this.subscription = sessions.onDidChange(() => this.update());
  }

  /** The shown session; others that run are in its tooltip. */
  private update(): void {
    const { all, shown } = this.sessions;
    if (shown === null || shown.empty) return this.hide();
    const starting = shown.running && shown.phase === 'starting';
    const text = starting ? vscode.l10n.t('GPU') : formatBytes(shown.liveBytes);
    const others = all.filter(session => session.running && session !== shown);
    this.show(`$(${iconOf(shown)}) ${text}`, [shown, ...others].map(tooltipOf).join('\n'));
  }

  /** Only changes go to the window: a call costs more than the comparison. */
  private show(text: string, tooltip: string): void {
    const shown = `${text}\n${tooltip}`;
    if (shown === this.shown) return;
    this.shown = shown;
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.show();
  }

  private hide(): void {
    this.shown = '';
    this.item.hide();
  }

  dispose(): void {
    this.subscription.dispose();
    this.item.dispose();
  }
}

/** One that runs has its recording's, also where it leaks. */
function iconOf(session: Session): string {
  if (!session.running || session.phase === 'starting') return sessionIcon(session);
  return session.recordingOn ? 'pulse' : 'debug-pause';
}

function tooltipOf({ title, liveBytes, ending }: Session): string {
  const bytes = formatBytes(liveBytes);
  if (ending !== null) return vscode.l10n.t('{0}, {1}: {2}', title, ending.title, bytes);
  return vscode.l10n.t('GPU memory of {0}: {1}', title, bytes);
}
