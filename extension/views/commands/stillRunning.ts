import * as vscode from 'vscode';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import type { Sessions } from '../session/sessions';

type Kept = Pick<Sessions, 'all' | 'onDidChange'>;

/** If a run of the same program is still going, the user chooses whether it is stopped first or both run. False: the user cancelled. */
export async function makeRoom(sessions: Kept, plan: LaunchPlan): Promise<boolean> {
  const running = sessions.all.findLast(
    session => session.running && session.plan?.title === plan.title && session.plan.cwd === plan.cwd,
  );
  if (running === undefined) return true;
  const stop = { label: vscode.l10n.t('Stop it and trace again') };
  const beside = { label: vscode.l10n.t('Let it run, and trace again') };
  const title = vscode.l10n.t('{0} is still running', plan.title);
  const over = new vscode.CancellationTokenSource();
  const listening = sessions.onDidChange(() => running.running || over.cancel());
  const picked = await vscode.window.showQuickPick([stop, beside], { title }, over.token);
  listening.dispose();
  if (over.token.isCancellationRequested) return true; // it ended: nothing is left to choose
  if (picked === stop) {
    const ended = new Promise<void>(done => {
      const listening = sessions.onDidChange(() => {
        if (running.running) return;
        listening.dispose();
        done();
      });
    });
    running.stop();
    await ended;
  }
  return picked !== undefined;
}
