import * as vscode from 'vscode';
import { formatBytes } from '../../text/format';
import type { Session } from './session';
import { sessionIcon } from './sessionWords';
import type { Sessions } from './sessions';

/** Live bytes of the traced programs, in the status bar; a click shows the panel. */
export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('gpuMemoryTrace.live', vscode.StatusBarAlignment.Left, 10);
  private readonly subscription: vscode.Disposable;
  private shown = '';

  constructor(private readonly sessions: Sessions) {
    this.item.name = vscode.l10n.t('GPU Memory');
    this.item.command = 'gpuMemoryTrace.showPanel';
    this.subscription = sessions.onDidChange(() => this.update());
  }

  /** The sum of those that run; where none does, the shown session. */
  private update(): void {
    const { all, shown } = this.sessions;
    const running = all.filter(session => session.running);
    const counted = running.length > 0 ? running : shown === null || shown.failed ? [] : [shown];
    if (counted.length === 0) return this.hide();
    const known = counted.some(({ phase }) => phase !== 'starting');
    const sum = counted.reduce((bytes, { liveBytes }) => bytes + liveBytes, 0);
    const text = known ? formatBytes(sum) : vscode.l10n.t('GPU');
    const count = counted.length > 1 ? ` ${vscode.l10n.t('({0} programs)', counted.length)}` : '';
    this.show(`$(${known ? iconOf(counted) : 'loading~spin'}) ${text}${count}`, counted.map(tooltipOf).join('\n'));
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

/** Those that run differ by their recording alone. */
function iconOf(sessions: readonly Session[]): string {
  const [one] = sessions;
  if (one !== undefined && sessions.length === 1 && !one.running) return sessionIcon(one);
  return sessions.some(({ recordingOn }) => recordingOn) ? 'pulse' : 'debug-pause';
}

function tooltipOf({ title, liveBytes, ending }: Session): string {
  const bytes = formatBytes(liveBytes);
  if (ending !== null) return vscode.l10n.t('{0}, {1}: {2}', title, ending.title, bytes);
  return vscode.l10n.t('GPU memory of {0}: {1}', title, bytes);
}
