import * as vscode from 'vscode';
import type { Sessions } from './sessions';

/** Keeps the keys that the manifest's `when` clauses and `enablement`s use; but for the last three they are about the shown session. */
export function followContextKeys(sessions: Sessions): vscode.Disposable {
  const known = new Map<string, unknown>();
  const set = (name: string, value: unknown): void => {
    if (known.get(name) === value) return;
    known.set(name, value);
    void vscode.commands.executeCommand('setContext', `gpuMemoryTrace.${name}`, value);
  };
  return sessions.onDidChange(change => {
    if (change === 'events') return;
    const { all, shown } = sessions;
    set('running', shown?.running ?? false);
    set('attached', shown?.attached ?? false);
    set('recording', shown?.recordingOn ?? false);
    set('hasTrace', shown !== null && shown.facts !== null);
    set('hasSession', shown !== null);
    const runs = (attached: boolean): boolean => all.some(one => one.running && one.attached === attached);
    set('canStop', runs(false));
    set('canDetach', runs(true));
    set('severalSessions', all.length > 1);
  });
}
