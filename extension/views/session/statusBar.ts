import * as vscode from 'vscode';
import { listedPeakBytes } from '../../protocol/trace';
import { isLeak } from '../../protocol/verdicts';
import { formatBytes } from '../../text/format';
import { TRACE_EDITORS } from '../contributedNames';
import type { Session } from './session';
import { sessionIcon } from './sessionWords';
import type { Sessions } from './sessions';

/** Whose leaks are mended in the editor. */
export interface Fixes {
  readonly onDidEdit: vscode.Event<unknown>;
  /** Ids of findings. */
  fixedIn(session: Session): readonly string[];
}

/** Bytes of the program that the panel shows, in the status bar, with the moment that the panel shows. A click shows the panel. */
export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('gpuMemoryTrace.live', vscode.StatusBarAlignment.Left, 10);
  private readonly subscriptions: vscode.Disposable[];
  private shown = '';

  constructor(
    private readonly sessions: Sessions,
    private readonly fixes: Fixes,
  ) {
    this.item.name = vscode.l10n.t('GPU Memory');
    this.item.command = 'gpuMemoryTrace.showPanel';
    const { onDidChangeTabs, onDidChangeTabGroups } = vscode.window.tabGroups;
    const events = [sessions.onDidChangeBeside, fixes.onDidEdit, onDidChangeTabs, onDidChangeTabGroups];
    this.subscriptions = events.map((event: vscode.Event<unknown>) => event(() => this.update()));
  }

  /** The shown session; others that run are in its tooltip. */
  private update(): void {
    const { all, shown } = this.sessions;
    if (shown === null || shown.empty) return this.hide();
    const starting = shown.running && shown.phase === 'starting';
    const live = starting ? vscode.l10n.t('GPU') : bytesText(shown);
    const text = isTraceInFront() ? `${shown.title}: ${live}` : live;
    const others = all.filter(session => session.running && session !== shown);
    this.show(`$(${iconOf(shown, this.fixes.fixedIn(shown))}) ${text}`, [shown, ...others].map(tooltipOf).join('\n'));
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
    for (const one of this.subscriptions) one.dispose();
    this.item.dispose();
  }
}

/** One that runs has its recording's, also where it leaks. */
function iconOf(session: Session, fixed: readonly string[]): string {
  const { phase, running, crashed, stopped, recordingOn, facts } = session;
  const leaks = facts?.findings?.filter(one => isLeak(one) && !fixed.includes(one.id)).length ?? 0;
  if (!running || phase === 'starting') return sessionIcon({ phase, running, crashed, stopped, recordingOn, leaks });
  return recordingOn ? 'pulse' : 'debug-pause';
}

/** A saved trace in an editor of its own: the status bar's figure is of another one. */
function isTraceInFront(): boolean {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputCustom && TRACE_EDITORS.some(type => type === input.viewType);
}

const tooltipOf = (session: Session): string =>
  vscode.l10n.t('GPU memory of {0}: {1}', session.title, bytesText(session));

/** `peak 28.58 MiB` of a program that runs, as what is alive differs before it is drawn; `207 KiB at the end of step 61` */
function bytesText({ liveBytes, shownMoment: { when }, running, facts }: Session): string {
  const bytes = formatBytes(liveBytes);
  if (when !== null) return `${bytes} ${when}`;
  if (!running) return vscode.l10n.t('{0} at the end', bytes);
  return vscode.l10n.t('peak {0}', formatBytes(listedPeakBytes(facts?.info.totals ?? [])));
}
