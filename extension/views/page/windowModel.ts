import * as vscode from 'vscode';
import { openOther } from '../session/pickTrace';
import { CHANGE_ARGUMENTS, type CommandName } from '../contributedNames';
import type { Sessions } from '../session/sessions';
import type { Button } from '../../protocol/requests/sessionRequests';
import type { PageModel } from './model';

/** Buttons whose command has another name, and what it is given. */
const OTHERS: Partial<Record<Button, [CommandName, ...string[]]>> = {
  save: ['saveTrace', 'gputrace'],
  savePage: ['saveTrace', 'html'],
  changeArguments: ['traceAgain', CHANGE_ARGUMENTS],
};

/** The shown session, for a page that follows the choice of it. */
export function modelOf(sessions: Sessions, canWiden: boolean): PageModel {
  return {
    onDidChange: sessions.onDidChangeShown,
    get shown() {
      return sessions.shown;
    },
    view: () => ({ ...sessions.view(), canWiden }),
    setLate: (page, late) => {
      // Beside the pages, figures are requested in the same packet: they are of the moment that the pages show.
      if (late) sessions.shown?.setLate(page, true);
      sessions.beside.setLate(page, late);
    },
    answered: page => {
      sessions.shown?.setLate(page, false);
      sessions.beside.changed('events');
    },
    setMoment: ({ id, ...moment }) => sessions.all.find(session => session.id === id)?.setMoment(moment),
    setRecording: async on => sessions.shown?.setRecording(on),
    press: button => {
      const [command, ...given] = OTHERS[button] ?? [button];
      const name = command === 'stop' && sessions.shown?.attached ? 'detach' : command;
      void vscode.commands.executeCommand(`gpuMemoryTrace.${name}`, ...given);
    },
    showSession: id => sessions.show(id),
    closeSession: id => sessions.close(id),
    traces: () => sessions.traces(),
    openOther: () => openOther(sessions, sessions.shown?.id),
    openRecent: file => {
      if (sessions.recent.all.some(recent => recent.file === file))
        void vscode.commands.executeCommand('gpuMemoryTrace.openTrace', vscode.Uri.file(file));
    },
  };
}
