import { openLine } from '../../../editor/openLine';
import { sourcePath, type SourceLines } from '../../../editor/sourceLines';
import type { SessionRequests } from '../../../protocol/requests/sessionRequests';
import type { PageModel } from '../model';
import type { Answers } from './answers';
import { shownOrigin } from './source';

export function sessionAnswers(model: PageModel, lines: SourceLines): Answers<SessionRequests> {
  return {
    openLine: ({ file, line }) => {
      const { cwd, sinceMs } = shownOrigin(model);
      return openLine(file, lines.nearest(sourcePath(file, cwd), line, sinceMs), cwd);
    },
    start: () => model.press('start'),
    stop: () => model.press('stop'),
    trySample: () => model.press('trySample'),
    doctor: () => model.press('doctor'),
    chooseInterpreter: () => model.press('chooseInterpreter'),
    setRecording: ({ on }) => model.setRecording(on),
    save: () => model.press('save'),
    mark: () => model.press('mark'),
    openWide: () => model.press('openWide'),
    showSession: ({ id }) => model.showSession(id),
    closeSession: ({ id }) => model.closeSession(id),
  };
}
