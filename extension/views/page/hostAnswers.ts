// The requests of a page that the host itself answers; the rest is for the engine.
import * as vscode from 'vscode';
import { applyFix, originOf, type SourceOrigin } from '../../editor/fixEdit';
import { openLine } from '../../editor/openLine';
import type { SourceLines } from '../../editor/sourceLines';
import { sourcePath } from '../../files/sourcePath';
import type { HostRequests } from '../../protocol/requests/engineRequests';
import { forButtons } from '../../protocol/requests/sessionRequests';
import type { OpenTrace } from '../session/openTrace';
import type { PageModel } from './model';

type Answers = {
  [M in keyof HostRequests]: HostRequests[M] extends (params: infer P) => infer Result
    ? (params: P) => Result | PromiseLike<Result>
    : never;
};

export function hostAnswers(model: PageModel, lines: SourceLines): Answers {
  let room = 0;
  return {
    openLine: ({ file, line, preserveFocus }) => {
      const { folders, sinceMs } = shownOrigin(model);
      return openLine(file, lines.nearest(sourcePath(file, folders), line, sinceMs), folders, { room, preserveFocus });
    },
    setRoom: ({ percent }) => void (room = percent),
    ...forButtons(button => () => model.press(button)),
    setRecording: ({ on }) => model.setRecording(on),
    setMoment: moment => model.setMoment(moment),
    showSession: ({ id }) => model.showSession(id),
    closeSession: ({ id }) => model.closeSession(id),
    openRecent: ({ file }) => model.openRecent(file),
    openOtherTrace: () => model.openOther(),
    copyText: ({ text }) => vscode.env.clipboard.writeText(text),
    applyFix: ({ finding }) => applyFix(shownTrace(model).finding(finding), shownOrigin(model), lines, room),
  };
}

/** Throws a sentence where there is none. */
export function shownTrace({ shown }: PageModel): OpenTrace {
  if (!shown?.facts) throw new Error(vscode.l10n.t('No trace is open.'));
  return shown;
}

/** Where the source files of the trace that the page shows are. */
function shownOrigin({ shown }: PageModel): SourceOrigin {
  return originOf(shown ?? { folders: { cwd: '/', beside: null }, facts: null });
}
