import * as vscode from 'vscode';
import type { TraceController } from './controller';

/** Keeps the keys that the manifest's `when` clauses and `enablement`s use. */
export function followContextKeys(controller: TraceController): vscode.Disposable {
  const known = new Map<string, unknown>();
  const set = (name: string, value: unknown): void => {
    if (known.get(name) === value) return;
    known.set(name, value);
    void vscode.commands.executeCommand('setContext', `gpuMemoryTrace.${name}`, value);
  };
  return controller.onDidChange(() => {
    const { phase, recording, info } = controller.view();
    set('running', controller.running);
    set('attached', controller.attached);
    set('recording', recording);
    set('hasTrace', info !== null && phase !== 'empty');
  });
}
