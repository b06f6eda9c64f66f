import { openLine } from '../../../editor/openLine';
import { sourcePath, type SourceLines } from '../../../editor/sourceLines';
import { forButtons, type SessionRequests } from '../../../protocol/requests/sessionRequests';
import type { PageModel } from '../model';
import type { Answers } from './answers';
import { shownOrigin } from './source';

export function sessionAnswers(model: PageModel, lines: SourceLines): Answers<SessionRequests> {
  return {
    openLine: ({ file, line }) => {
      const { folders, sinceMs } = shownOrigin(model);
      return openLine(file, lines.nearest(sourcePath(file, folders), line, sinceMs), folders);
    },
    ...forButtons(button => () => model.press(button)),
    setRecording: ({ on }) => model.setRecording(on),
    showSession: ({ id }) => model.showSession(id),
    closeSession: ({ id }) => model.closeSession(id),
  };
}
