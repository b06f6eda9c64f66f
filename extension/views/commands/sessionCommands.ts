// Commands about the shown session and the choice of it.
import * as vscode from 'vscode';
import { formatBytes } from '../../text/format';
import { MAX_MARK_NAME } from '../../protocol/marks';
import { Refused } from '../session/refused';
import type { Session } from '../session/session';
import { sessionIcon, sessionWords } from '../session/sessionWords';
import type { Sessions } from '../session/sessions';

/** Gives this moment a name. `given`: the name, for other extensions and key bindings; else a prompt. */
export async function markNow(sessions: Sessions, given: unknown): Promise<void> {
  const { shown } = sessions;
  if (shown === null) throw new Refused(vscode.l10n.t('No program is being traced, so there is nothing to mark.'));
  const timeNs = shown.now(); // the moment of the question, not that of the answer
  const name = typeof given === 'string' ? given : await askName(shown.view().marks.length + 1);
  if (name === undefined) return;
  shown.mark(name.trim().slice(0, MAX_MARK_NAME), timeNs);
}

function askName(number: number): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t('Add a marker'),
    prompt: vscode.l10n.t('Name, such as "before eval". You can compare two markers.'),
    value: vscode.l10n.t('marker {0}', number),
    validateInput: text => (text.trim() === '' ? vscode.l10n.t('Enter a name for the marker.') : undefined),
  });
}

/** Lets the user choose the session that is shown. */
export async function chooseSession(sessions: Sessions): Promise<void> {
  const title = vscode.l10n.t('Switch trace');
  const picked = await pickSession(sessions, sessions.all, title, vscode.l10n.t('Choose a program or a saved trace'));
  if (picked !== undefined) sessions.show(picked.id);
}

/** Ends the shown program, else the one that runs; of several the user chooses. `attached`: of an attached one the tracing. */
export async function stopProgram(sessions: Sessions, attached: boolean): Promise<void> {
  const running = sessions.all.filter(session => session.running && session.attached === attached);
  const one = running.find(session => session === sessions.shown) ?? (running.length > 1 ? undefined : running[0]);
  const title = attached ? vscode.l10n.t('Detach from a program') : vscode.l10n.t('Stop a program');
  (one ?? (await pickSession(sessions, running, title, '')))?.stop();
}

async function pickSession(
  sessions: Sessions,
  offered: readonly Session[],
  title: string,
  placeHolder: string,
): Promise<Session | undefined> {
  if (offered.length === 0) return undefined;
  const items = offered.map(session => ({
    label: `$(${sessionIcon(session)}) ${sessions.titleOf(session)}`,
    description: [
      sessionWords(session, vscode.l10n.t),
      ...(session === sessions.shown ? [vscode.l10n.t('shown')] : []),
    ].join(' · '),
    detail: session.facts === null ? '' : formatBytes(session.liveBytes),
    session,
  }));
  return (await vscode.window.showQuickPick(items, { title, placeHolder }))?.session;
}

export function closeSession(sessions: Sessions): void {
  if (sessions.shown !== null) sessions.close(sessions.shown.id);
}
