import * as vscode from 'vscode';
import { openOther } from '../session/pickTrace';
import type { Sessions } from '../session/sessions';
import type { Button, PageModel } from './model';

const COMMANDS: Record<Button | 'detach', string> = {
  start: 'gpuMemoryTrace.start',
  chooseInterpreter: 'gpuMemoryTrace.chooseInterpreter',
  doctor: 'gpuMemoryTrace.doctor',
  trySample: 'gpuMemoryTrace.trySample',
  stop: 'gpuMemoryTrace.stop',
  detach: 'gpuMemoryTrace.detach',
  save: 'gpuMemoryTrace.saveTrace',
  mark: 'gpuMemoryTrace.mark',
  openWide: 'gpuMemoryTrace.openWide',
};

/** The shown session, for a page that follows the choice of it. */
export function modelOf(sessions: Sessions, canWiden: boolean): PageModel {
  return {
    onDidChange: sessions.onDidChangeShown,
    get shown() {
      return sessions.shown;
    },
    view: () => ({ ...sessions.view(), canWiden }),
    setRecording: on => sessions.shown?.setRecording(on),
    press: button => {
      const command = button === 'stop' && sessions.shown?.attached ? 'detach' : button;
      void vscode.commands.executeCommand(COMMANDS[command]);
    },
    showSession: id => sessions.show(id),
    closeSession: id => sessions.close(id),
    others: () => sessions.traces().filter(({ id }) => id !== sessions.shown?.id),
    openOther: () => openOther(sessions),
  };
}
