// Commands about findings of the shown session. `given`: a finding's id, from the page or the Problems panel.
import * as vscode from 'vscode';
import { holderText, placeText } from '../../analysis/words';
import { openLine } from '../../editor/openLine';
import type { SourceFolders } from '../../protocol/cwd';
import { shareText } from '../../text/holderShare';
import type { HolderFound } from '../../protocol/requests/verdictRequests';
import type { Finding } from '../../protocol/verdicts';
import type { ExplorerView } from '../page/explorer';
import { Refused } from '../session/refused';
import type { Sessions } from '../session/sessions';
import type { Session } from '../session/session';

interface Parts {
  sessions: Sessions;
  explorer: ExplorerView;
}

/** Shows a finding's card in the panel. `session`: the number of its trace, where it is not the shown one's. */
export async function showFinding({ sessions, explorer }: Parts, given: unknown, session?: unknown): Promise<void> {
  if (typeof session === 'number') sessions.show(session);
  await vscode.commands.executeCommand('gpuMemoryTrace.explorer.focus');
  if (typeof given === 'string') explorer.show({ type: 'finding', id: given });
}

/** Queries the program for the holder of a finding’s blocks, and notifies beside showing it on the card. */
export async function whoHolds(parts: Parts, given: unknown): Promise<void> {
  const chosen = await choose(parts.sessions, given);
  if (chosen === undefined) return;
  const { traced, finding } = chosen;
  const { folders } = traced;
  await showFinding(parts, finding.id);
  const title = vscode.l10n.t('Finding what holds the memory');
  const inquiry = await withProgress(title, traced, finding, () =>
    traced.request('findHolders', { finding: finding.id }),
  );
  const [holder] = inquiry.results;
  if (holder === undefined) return void vscode.window.showInformationMessage(inquiry.sentence);
  await showHolder(folders, holder);
}

async function showHolder(folders: SourceFolders, holder: HolderFound): Promise<void> {
  const open = vscode.l10n.t('Open line');
  const { file, line } = holder;
  const sentences = [vscode.l10n.t('Held by {0}.', holderText(holder)), shareText(holder, vscode.l10n.t) ?? ''];
  const buttons = file === null || line === null ? [] : [open];
  const answer = await vscode.window.showInformationMessage(sentences.join(' ').trim(), ...buttons);
  if (answer === open && file !== null && line !== null) await openLine(file, line, folders);
}

/** Shows that something is waited for; its button ends the waiting. */
function withProgress<T>(title: string, traced: Session, { id }: Finding, run: () => Promise<T>): Thenable<T> {
  const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title };
  return vscode.window.withProgress(options, (_progress, token) => {
    token.onCancellationRequested(() => void traced.request('stopHolderSearch', { finding: id }));
    return run();
  });
}

async function choose(sessions: Sessions, given: unknown): Promise<{ traced: Session; finding: Finding } | undefined> {
  const traced = sessions.shown;
  if (!traced?.facts) throw new Refused(vscode.l10n.t('No trace is open. Open or record one first.'));
  const findings = await traced.judged();
  if (typeof given === 'string') return { traced, finding: traced.finding(given) };
  const [first, ...others] = findings;
  if (first === undefined) throw new Refused(vscode.l10n.t('There are no findings yet.'));
  if (others.length === 0) return { traced, finding: first };
  const items = findings.map(finding => ({ label: finding.title, description: placeText(finding.place), finding }));
  const picked = await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Which finding?') });
  return picked === undefined ? undefined : { traced, finding: picked.finding };
}
